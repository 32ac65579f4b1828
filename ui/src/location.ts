/**
 * The place in the page is behind the `#` of the address: `#/values?key=…`. So the page works below any
 * path, also behind `kubectl proxy`, and a link to it can be sent to a colleague.
 */
import { signal } from '@preact/signals';

export interface Place {
  /** Name of the view; empty: the first. */
  readonly view: string;
  readonly query: URLSearchParams;
}

export const place = signal<Place>(placeOf(window.location.hash));

addEventListener('hashchange', () => {
  place.value = placeOf(window.location.hash);
});

export function placeOf(hash: string): Place {
  const text = hash.replace(/^#?\/?/, '');
  // Some programs decode a link when it is sent: more question marks are part of an argument.
  const end = text.includes('?') ? text.indexOf('?') : text.length;
  return { view: text.slice(0, end), query: new URLSearchParams(text.slice(end + 1)) };
}

/** Address of a view; arguments that are empty are left out. */
export function href(
  view: string,
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  const text = new URLSearchParams(given).toString();
  return text === '' ? `#/${view}` : `#/${view}?${text}`;
}

/**
 * Changes arguments of the current view, without an entry in the history of the browser: for filters that
 * change with each key press.
 */
export function changeQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { view, query } = place.value;
  const address = href(view, { ...Object.fromEntries(query), ...changes });
  history.replaceState(undefined, '', address);
  place.value = placeOf(address);
}
