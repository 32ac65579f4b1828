/** A key in one line. Its end says which value it is, so its beginning is left out when there is no room. */
export function ValueKey({ text }: { readonly text: string }) {
  return (
    <code class="short-key">
      <bdi>{text}</bdi>
    </code>
  );
}
