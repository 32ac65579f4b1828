/** The table of the node: where the pods of this node may send to outside of it. */
import { AddressSet } from '../address-set.ts';
import type { EgressIsolatedPod } from './local-table.ts';
import { mergedPermits, type PeerPorts } from './merged-permits.ts';
import { prefixLists } from './prefix-lists.ts';
import { denyAll, permitAll, type Table, type TableEntry, withoutRedundantEnd } from './table.ts';

/**
 * Pods with the same permits share their entries.
 * @param nodeAddresses destinations that the pods of this node always reach
 */
export function globalTable(
  nodeAddresses: AddressSet,
  senders: readonly EgressIsolatedPod[],
): Table {
  const all = AddressSet.ofAddresses(senders.flatMap(({ addresses }) => addresses));
  if (all.isEmpty) return [permitAll];
  const bySamePermits = Map.groupBy(senders, ({ permits }) => permitsText(mergedPermits(permits)));
  const sorted = [...bySamePermits].sort(([a], [b]) => (a < b ? -1 : 1));
  const permitted = sorted.flatMap(([, same]) => {
    const sources = AddressSet.ofAddresses(same.flatMap(({ addresses }) => addresses));
    return mergedPermits((same[0] as EgressIsolatedPod).permits).map(
      ({ peers, ports }): TableEntry => ({ ...permitAll, sources, destinations: peers, ports }),
    );
  });
  return withoutRedundantEnd([
    { ...permitAll, sources: all, destinations: nodeAddresses },
    ...permitted,
    { ...denyAll, sources: all },
    permitAll,
  ]);
}

function permitsText(permits: readonly PeerPorts[]): string {
  return permits.map(({ peers, ports }) => `${prefixLists(peers).text} ${ports.text}`).join('\n');
}
