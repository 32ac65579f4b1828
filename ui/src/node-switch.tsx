/** Names of node and cluster in the header, and the switch to another node. */
import { useLayoutEffect } from 'preact/hooks';
import type { ClusterNames } from '#documents/cluster.ts';
import { useDocument } from './agent/use-document.ts';
import { hrefOf, otherNode, place } from './location.ts';
import { setTitle } from './title.ts';

/** Nodes join and leave seldom. */
const NAMES_MS = 30_000;

export function useClusterNames(): ClusterNames | undefined {
  const { document: names } = useDocument<ClusterNames>('contiv/v1/cluster/names', {
    everyMs: NAMES_MS,
    source: 'serving',
  });
  const { cluster = '', thisNode } = names ?? {};
  useLayoutEffect(() => {
    setTitle('node', otherNode ?? thisNode ?? '');
    setTitle('cluster', cluster);
    // an address that somebody else has got from the page of another node
    const { view, query } = place.peek();
    if (thisNode !== undefined && thisNode === otherNode)
      location.replace(hrefOf(undefined, view, Object.fromEntries(query)));
  }, [cluster, thisNode]);
  return names;
}

interface NamesProps {
  readonly names: ClusterNames | undefined;
}

export function NodeSwitch({ names }: NamesProps) {
  if (!names) return null;
  const { cluster, thisNode, total, nodes } = names;
  const shown = otherNode ?? thisNode;
  return (
    <>
      {total < 2 && otherNode === undefined ? (
        <span class="node-name">node {shown}</span>
      ) : (
        <span class="node-switch">
          <span class="node-name">node</span>{' '}
          <select
            aria-label="Node"
            value={shown}
            onChange={({ currentTarget: { value } }) => {
              location.hash = hrefOf(value === thisNode ? undefined : value, place.peek().view);
            }}
          >
            {!nodes.includes(shown) && <option value={shown}>{shown}</option>}
            {nodes.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
            {total > nodes.length && (
              <option disabled>{total - nodes.length} more: search in the view Cluster</option>
            )}
          </select>
        </span>
      )}
      {cluster !== '' && <span class="cluster-name">cluster {cluster}</span>}
    </>
  );
}

/** Says which node answers for the one that is shown. */
export function NodeNotice({ names }: NamesProps) {
  if (otherNode === undefined) return null;
  return (
    <p class="connection other-node">
      Shown is {otherNode}: {names?.thisNode ?? 'the node that serves this page'} asks it.{' '}
      <a href={hrefOf(undefined, place.value.view)}>
        Back to {names?.thisNode ?? 'the node that serves this page'}
      </a>
    </p>
  );
}
