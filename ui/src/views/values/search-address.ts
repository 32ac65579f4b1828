/** The search of the address as a request to the agent. */

/** Rows at first, and at most: more can neither be read nor drawn fast. */
export const FIRST_ROWS = 50;
export const MAX_ROWS = 200;

/** Arguments of the address that say which values are looked for. */
const filterNames = ['search', 'state', 'descriptor'] as const;

/** A changed filter begins at the first value again. */
export const fromTheStart = { after: undefined, limit: undefined } as const;

export function isFiltered(query: URLSearchParams): boolean {
  return [...filterNames, 'after'].some((name) => (query.get(name) ?? '') !== '');
}

export function rowsOf(query: URLSearchParams): number {
  return query.get('limit') === String(MAX_ROWS) ? MAX_ROWS : FIRST_ROWS;
}

/** Path of the document with the values that the address asks for. */
export function searchPath(query: URLSearchParams): string {
  const asked = new URLSearchParams({ limit: String(rowsOf(query)) });
  for (const name of [...filterNames, 'after']) {
    const text = query.get(name) ?? '';
    if (text !== '') asked.set(name, text);
  }
  return `scheduler/values?${asked}`;
}

/** The arguments of the address that stay when a value is opened, so that the way back leads to the same list. */
export function searchQuery(query: URLSearchParams): Record<string, string | undefined> {
  return { ...Object.fromEntries(query), key: undefined };
}
