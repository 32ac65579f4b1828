/** What to do about a problem. */

interface Props {
  readonly text: string;
  /** Of the error; null or absent: it has none. */
  readonly code?: string | null;
}

export function Remedy({ text, code }: Props) {
  return (
    <p class="remedy">
      <strong>Do:</strong> {text} {code && <code>{code}</code>}
    </p>
  );
}
