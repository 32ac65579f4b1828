/** Objects in a text of the status, which is short. */
const NAMED = 5;

export function someOf(texts: readonly string[]): string {
  const more = texts.length > NAMED ? [`${texts.length - NAMED} more`] : [];
  return [...texts.slice(0, NAMED), ...more].join('; ');
}
