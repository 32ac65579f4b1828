/** Who may reach whom under the network policies: a matrix, and for one pair the rules that decide. */

import type { ConnectivityDocument } from '#documents/connectivity.ts';
import { useDocument } from '../../agent/use-document.ts';
import { Loading } from '../../components/loading.tsx';
import { QueryChoice, QueryText } from '../../components/query-fields.tsx';
import { place } from '../../location.ts';
import { Matrix } from './matrix.tsx';
import { Pair } from './pair.tsx';

/** Rows, and columns: more cannot be read, and the agent need not send them. */
const LIMIT = 40;
/** The agent computes the policies of the whole cluster for each request. */
const REFRESH_MS = 10_000;

const sides = ['sources', 'destinations'] as const;

export function Connectivity() {
  const { query } = place.value;
  const from = query.get('from') ?? '';
  const to = query.get('to') ?? '';
  const asked = new URLSearchParams({ limit: String(LIMIT) });
  for (const name of ['namespace', 'search', 'side']) {
    const value = query.get(name);
    if (value) asked.set(name, value);
  }
  const loaded = useDocument<ConnectivityDocument>(`contiv/v1/policy/connectivity?${asked}`, {
    everyMs: REFRESH_MS,
  });
  return (
    <>
      <p class="quiet">
        Each cell has the ports of the column that the network policies permit the row to reach. A
        cell opens the rules that decide.
      </p>
      {from !== '' && to !== '' && <Pair from={from} to={to} port={query.get('port') ?? ''} />}
      <Filters namespaces={loaded.document?.namespaces ?? []} />
      <Loading of={loaded} what="the connections">
        {(document) => (
          <>
            <Count document={document} />
            <Matrix document={document} />
            <Unlisted document={document} />
          </>
        )}
      </Loading>
    </>
  );
}

function Filters({ namespaces }: { readonly namespaces: readonly string[] }) {
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <QueryChoice label="Namespace" name="namespace" all="all" choices={namespaces} />
      <QueryText label="Text in the name" name="search" />
      <QueryChoice label="Applies to" name="side" all="sources and destinations" choices={sides} />
    </form>
  );
}

function Count({ document }: { readonly document: ConnectivityDocument }) {
  const { sources, destinations, matching } = document;
  const isCut = sources.length < matching.sources || destinations.length < matching.destinations;
  return (
    <p role="status" class={isCut ? 'matrix-notice' : 'quiet'}>
      {isCut
        ? `${sources.length} of ${matching.sources} sources and ${destinations.length} of ${matching.destinations} destinations shown: use the filters to see others.`
        : `${sources.length} sources, ${destinations.length} destinations`}
    </p>
  );
}

function Unlisted({
  document: { unlisted, matching },
}: {
  readonly document: ConnectivityDocument;
}) {
  if (unlisted.length === 0) return null;
  return (
    <section>
      <h2>Pods without connections</h2>
      {matching.unlisted > unlisted.length && (
        <p class="quiet">
          {unlisted.length} of {matching.unlisted} shown.
        </p>
      )}
      <table>
        <caption>Pods that are not in the matrix</caption>
        <thead>
          <tr>
            <th scope="col">Pod</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {unlisted.map(({ pod, reason }) => (
            <tr key={pod}>
              <td>{pod}</td>
              <td>{reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
