/**
 * The place in the page is behind the `#` of the address: `#/values?key=…`. So the page works below any
 * path, also behind `kubectl proxy`, and a link to it can be sent to a colleague. Before the view is the node that is
 * shown, unless it is the one that serves the page: `#/@node-2/values?key=…`.
 */
import { signal } from '@preact/signals';

export interface Place {
  /** Name of the view; empty: the first. */
  readonly view: string;
  readonly query: URLSearchParams;
}

/** Node that is shown instead of the one that serves the page. Another node is another page: nothing of it stays. */
export const otherNode = nodeOf(window.location.hash);

export const place = signal<Place>(placeOf(window.location.hash));

addEventListener('hashchange', () => {
  if (nodeOf(window.location.hash) !== otherNode) window.location.reload();
  else place.value = placeOf(window.location.hash);
});

export function nodeOf(hash: string): string | undefined {
  const [, name] = /^#?\/?@([^/?]*)/.exec(hash) ?? [];
  return name === undefined || name === '' ? undefined : decodeURIComponent(name);
}

export function placeOf(hash: string): Place {
  const text = hash.replace(/^#?\/?(@[^/?]*\/?)?/, '');
  // Some programs decode a link when it is sent: more question marks are part of an argument.
  const end = text.includes('?') ? text.indexOf('?') : text.length;
  return { view: text.slice(0, end), query: new URLSearchParams(text.slice(end + 1)) };
}

type Arguments = Readonly<Record<string, string | undefined>>;

/** Address of a view; arguments that are empty are left out. */
export function href(view: string, query: Arguments = {}): string {
  return hrefOf(otherNode, view, query);
}

/** The same of another node. @param node undefined: the one that serves the page */
export function hrefOf(node: string | undefined, view: string, query: Arguments = {}): string {
  const given = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  const text = new URLSearchParams(given).toString();
  const path = node === undefined ? view : `@${encodeURIComponent(node)}/${view}`;
  return text === '' ? `#/${path}` : `#/${path}?${text}`;
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
