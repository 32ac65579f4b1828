/** Texts from the cluster on a terminal: control characters are shown, not carried out. */

/**
 * Controls, line separators, and the characters that change the direction of text, which can make a name
 * look like another.
 */
const UNSAFE = /\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** For one line: line ends are escaped, too. */
export function safeLine(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** For text of several lines: line ends and tabs stay. */
export function safeText(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(UNSAFE, (one) => (one === '\n' || one === '\t' ? one : escaped(one)));
}

function escaped(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  if (character === '\r') return '\\r';
  const code = character.codePointAt(0)!;
  return code < 0x100
    ? `\\x${code.toString(16).padStart(2, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`;
}
