/** Objects of the cluster, and events of this node, that have some words in their names or addresses. */
import { Type } from 'typebox';
import { count, type DocumentOf, text } from './document.ts';

const Found = Type.Object({
  name: text('As the object is named; of an event its number.'),
  details: text('Addresses, or the name of the event; empty: none are known.'),
  node: text('Of a pod; empty: it is unknown, or the object is of no node.'),
});

const FoundOfKind = Type.Object({
  kind: Type.Enum(['pods', 'services', 'policies', 'nodes', 'events']),
  matching: count('As many as are found, or more.'),
  found: Type.Array(Found),
});
export type FoundOfKind = DocumentOf<typeof FoundOfKind>;

export const SearchResults = Type.Object({ groups: Type.Array(FoundOfKind) });
export type SearchResults = DocumentOf<typeof SearchResults>;
