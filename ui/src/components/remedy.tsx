/** What to do about a problem, and where the documentation says more. */
import { href } from '../location.ts';

interface Props {
  readonly text: string;
  /** At fault; absent: it is none of the agent. */
  readonly component?: string;
  /** Of the error; null: it has none. */
  readonly code?: string | null;
}

export function Remedy({ text, component, code }: Props) {
  return (
    <p class="remedy">
      <strong>Do:</strong> {text}
      {component !== undefined && (
        <>
          {' '}
          <a
            href={href('help', { component, code: code ?? undefined })}
            aria-label={`More about ${code ?? component}`}
          >
            {code ? <code>{code}</code> : 'More'}
          </a>
        </>
      )}
    </p>
  );
}
