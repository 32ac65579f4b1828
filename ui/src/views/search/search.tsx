/** What the search of the header has found, by kind, with links. */
import type { ClusterNames } from '#documents/cluster.ts';
import type { ValueSearch } from '#documents/scheduler/value-search.ts';
import type { FoundOfKind, SearchResults } from '#documents/search.ts';
import { useDocument } from '../../agent/use-document.ts';
import { useKeptDocument } from '../../agent/use-kept-document.ts';
import { useSearch } from '../../agent/use-search.ts';
import { ValueStateBadge } from '../../components/badge.tsx';
import { Loading } from '../../components/loading.tsx';
import { href, hrefOf, otherNode } from '../../location.ts';

const MAX_FOUND = 10;

export function Search() {
  const { settled } = useSearch('for');
  const words = settled.trim();
  const asked = words === '' ? undefined : encodeURIComponent(words);
  const objects = useKeptDocument(
    useDocument<SearchResults>(asked && `contiv/v1/search?for=${asked}&limit=${MAX_FOUND}`),
  );
  const values = useKeptDocument(
    useDocument<ValueSearch>(asked && `scheduler/values?search=${asked}&limit=${MAX_FOUND}`),
  );
  const { document: names } = useDocument<ClusterNames>('contiv/v1/cluster/names', {
    source: 'serving',
  });
  if (asked === undefined) return <p>Write what to look for into the field of the header.</p>;
  const found = [...(objects.document?.groups ?? []).map(({ matching }) => matching)];
  const total = found.reduce((sum, count) => sum + count, values.document?.matches ?? 0);
  return (
    <>
      <p role="status">
        {objects.document && values.document ? `${total} found for “${words}”` : 'Searching…'}
      </p>
      <Loading of={objects} what="objects">
        {({ groups }) => (
          <>
            {groups.map((group) => (
              <Group key={group.kind} group={group} thisNode={names?.thisNode ?? ''} />
            ))}
          </>
        )}
      </Loading>
      <Loading of={values} what="values">
        {(document) => <Values values={document} words={words} />}
      </Loading>
    </>
  );
}

const titles: Readonly<Record<FoundOfKind['kind'], string>> = {
  pods: 'Pods',
  services: 'Services',
  policies: 'Policies',
  nodes: 'Nodes',
  events: 'Events of the node',
};

interface GroupProps {
  readonly group: FoundOfKind;
  readonly thisNode: string;
}

function Group({ group: { kind, matching, found }, thisNode }: GroupProps) {
  if (matching === 0) return null;
  return (
    <section aria-labelledby={`found-${kind}`}>
      <h2 id={`found-${kind}`}>
        {titles[kind]} ({matching.toLocaleString('en-US')})
      </h2>
      <ul>
        {found.map(({ name, details, node }) => (
          <li key={name}>
            <a href={addressOf(kind, name, node, thisNode)}>{kind === 'events' ? details : name}</a>{' '}
            <span class="quiet">
              {kind === 'events' ? `event ${name}` : details}
              {node !== '' && ` on ${node}`}
            </span>
          </li>
        ))}
      </ul>
      <More shown={found.length} matching={matching} />
    </section>
  );
}

/** A pod is shown by its own node. */
function addressOf(
  kind: FoundOfKind['kind'],
  name: string,
  node: string,
  thisNode: string,
): string {
  switch (kind) {
    case 'pods':
      return node === ''
        ? href('pods', { pod: name })
        : hrefOf(node === thisNode ? undefined : node, 'pods', { pod: name });
    case 'services':
      return href('services', { service: name });
    case 'policies':
      return href('policies', { search: name });
    case 'nodes':
      return name === (otherNode ?? thisNode) ? href('') : href('nodes', { node: name });
    case 'events':
      return href('events', { event: name });
  }
}

function Values({ values, words }: { readonly values: ValueSearch; readonly words: string }) {
  const { matches, values: found } = values;
  if (matches === 0) return null;
  return (
    <section aria-labelledby="found-values">
      <h2 id="found-values">Values ({matches.toLocaleString('en-US')})</h2>
      <ul>
        {found.map(({ key, state }) => (
          <li key={key}>
            <a href={href('values', { key })}>
              <code>{key}</code>
            </a>{' '}
            <ValueStateBadge state={state} />
          </li>
        ))}
      </ul>
      {matches > found.length && (
        <p>
          <a href={href('values', { search: words })}>All {matches.toLocaleString('en-US')}</a>
        </p>
      )}
    </section>
  );
}

function More({ shown, matching }: { readonly shown: number; readonly matching: number }) {
  if (matching <= shown) return null;
  return <p class="quiet">The first {shown} are shown: add a word to the search.</p>;
}
