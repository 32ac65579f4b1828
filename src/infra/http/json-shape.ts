/**
 * The shape of JSON text, before it is parsed: a megabyte of brackets takes a tenth of a second of the
 * main thread, and a hundred times its size in memory.
 */

/** Objects of Kubernetes have some ten levels. */
const MAX_DEPTH = 100;
/** A megabyte of values for a plan has a quarter of them. */
const MAX_CONTAINERS = 50_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Whether the text has a usual depth and number of objects and lists. It need not be valid JSON. */
export function isPlainJson(text: string): boolean {
  let depth = 0;
  let containers = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++depth > MAX_DEPTH || ++containers > MAX_CONTAINERS) return false;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--;
  }
  return true;
}

/** Index of the closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) break;
  }
  return at;
}
