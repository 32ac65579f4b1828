/** The table of the node: where the pods of this node may send to outside of it. */
import { type AddressNumber, AddressSet } from '../address-set.ts';
import type { Decisions } from './decisions.ts';
import type { Sender } from './local-table.ts';
import { entriesText, matchesAll } from './merged-entries.ts';
import { denyAll, permitAll, type Table, type TableEntry, withoutRedundantEnd } from './table.ts';

/** Pods with the same decisions share their entries. */
export function globalTable(senders: readonly Sender[]): Table {
  const bySameDecisions = Map.groupBy(senders, ({ decisions }) => decisionsText(decisions));
  const sorted = [...bySameDecisions].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, same]) => same);
  const entries = sorted.flatMap((same) => entriesOf(same));
  // the same for all that end with it
  const denied = sorted.filter((same) => entriesOf(same).length < countOf(same));
  return withoutRedundantEnd([
    ...alwaysPermitted(sorted),
    ...entries,
    ...(denied.length === 0 ? [] : [{ ...denyAll, sources: addressesOf(denied.flat()) }]),
    permitAll,
  ]);
}

function alwaysPermitted(groups: readonly (readonly Sender[])[]): TableEntry[] {
  const byAlways = Map.groupBy(groups.flat(), ({ decisions: { always } }) => always);
  return [...byAlways].flatMap(([always, same]) =>
    always.isEmpty ? [] : [{ ...permitAll, sources: addressesOf(same), destinations: always }],
  );
}

/** Without a last one that denies everything. */
function entriesOf(same: readonly Sender[]): TableEntry[] {
  const sources = addressesOf(same);
  const { runs } = (same[0] as Sender).decisions;
  return runs.flatMap(({ action, entries }, at) => {
    const isEnd = action === 'deny' && at === runs.length - 1 && entries.some(matchesAll);
    if (isEnd) return [];
    return entries.map(
      ({ peers, ports }): TableEntry => ({ action, sources, destinations: peers, ports }),
    );
  });
}

function countOf(same: readonly Sender[]): number {
  return (same[0] as Sender).decisions.runs.reduce((sum, { entries }) => sum + entries.length, 0);
}

function addressesOf(senders: readonly Sender[]): AddressSet {
  return AddressSet.ofAddresses(
    senders.flatMap(({ addresses }): readonly AddressNumber[] => addresses),
  );
}

const texts = new WeakMap<Decisions, string>();

/** Kept as the decisions, which pods may have in common. */
function decisionsText(decisions: Decisions): string {
  const { always, runs } = decisions;
  const text =
    texts.get(decisions) ??
    [
      always.isEmpty ? '' : 'always',
      ...runs.map(({ action, entries }) => `${action}\n${entriesText(entries)}`),
    ].join('\n');
  texts.set(decisions, text);
  return text;
}
