/**
 * Compares all managed values with the southbound. The graph does not change: differences are reported,
 * not repaired. A downstream resync removes exactly them.
 */
import { errorText } from '#infra/errors/errors.ts';
import type { AnyDescriptor, RetrievedValue } from '../api/descriptor.ts';
import type { Value } from '../api/transaction.ts';
import { nodesOf } from '../graph/graph.ts';
import type { Node } from '../graph/node.ts';
import { deriveFrom, isEquivalent } from './found-value.ts';
import { readSouthbound } from './refresh.ts';
import type { SchedulerContext } from './scheduler-context.ts';

/**
 * `missing`: desired, but not there. `different`: there with another value. `stale`: there and
 * managed, but not desired.
 */
export type Difference = 'missing' | 'different' | 'stale';

export interface Drift {
  /** By key. A derived value is only listed if its base is not. */
  readonly Differences: readonly {
    readonly Key: string;
    readonly Descriptor: string;
    readonly Difference: Difference;
    /** Of the last operation, if it failed. */
    readonly Error?: string;
  }[];
  /** Descriptors whose values could not be read. */
  readonly Unread: readonly { readonly Descriptor: string; readonly Error: string }[];
  /** Values that were compared. */
  readonly Compared: number;
}

type Entry = Drift['Differences'][number];

export async function readDrift(context: SchedulerContext): Promise<Drift> {
  const { registry, graph, slices } = context;
  const differences: Entry[] = [];
  const unread: Drift['Unread'][number][] = [];
  let compared = 0;
  for (const descriptor of registry.descriptors) {
    if (!descriptor.retrieve) continue;
    const found = new Map<string, RetrievedValue>();
    try {
      for (const value of await readSouthbound(context, descriptor)) {
        if (slices.due()) await slices.turn();
        found.set(value.key, value);
      }
    } catch (thrown) {
      unread.push({ Descriptor: descriptor.name, Error: errorText(thrown) });
      continue;
    }
    for (const node of nodesOf(graph, descriptor)) {
      if (slices.due()) await slices.turn();
      if (node.base) continue;
      compared++;
      const value = found.get(node.key)?.value;
      const difference = differenceOf(node, value);
      found.delete(node.key);
      if (difference !== undefined) {
        differences.push(entry(node, descriptor, difference));
        continue;
      }
      if (value === undefined || node.unmanaged) continue;
      for (const one of derivedEntries(context, node, value)) {
        if (slices.due()) await slices.turn();
        compared++;
        if (one) differences.push(one);
      }
    }
    for (const { key, origin } of found.values())
      if (origin === 'from-NB')
        differences.push({ Key: key, Descriptor: descriptor.name, Difference: 'stale' });
  }
  differences.sort((a, b) => (a.Key < b.Key ? -1 : 1));
  return { Differences: differences, Unread: unread, Compared: compared };
}

/**
 * Compares what is derived from a found value: the descriptor may compare the base without it.
 * @returns undefined for a derived value without a difference
 */
function* derivedEntries(
  { graph, registry }: Pick<SchedulerContext, 'graph' | 'registry'>,
  base: Node,
  found: Value,
): Generator<Entry | undefined, void, void> {
  const there = new Map(deriveFrom(base, found).map(({ key, value }) => [key, value]));
  const keys = new Set(there.keys());
  for (const { key } of base.derived) keys.add(key);
  if (base.desired) for (const { key } of deriveFrom(base, base.desired)) keys.add(key);
  for (const key of keys) {
    const node = graph.peek(key);
    const descriptor = node ? node.descriptor : registry.tryFind(key);
    // A property is part of its base; another value may have the key.
    if (!descriptor || (node && node.base !== base)) continue;
    if (node) {
      const difference = differenceOf(node, there.get(key));
      yield difference && entry(node, descriptor, difference);
    } else {
      const difference = there.has(key) ? 'stale' : 'missing';
      yield { Key: key, Descriptor: descriptor.name, Difference: difference };
    }
  }
}

function entry({ key, error }: Node, { name }: AnyDescriptor, difference: Difference): Entry {
  const failed = error !== undefined && { Error: errorText(error) };
  return { Key: key, Descriptor: name, Difference: difference, ...failed };
}

function differenceOf(node: Node, found: Value | undefined): Difference | undefined {
  const { desired, unmanaged, rejected } = node;
  if (unmanaged) return undefined;
  if (desired === undefined) {
    // A resync keeps what it finds in place of a value that was never valid.
    return found === undefined || rejected ? undefined : 'stale';
  }
  if (found !== undefined) return isEquivalent(node, desired, found) ? undefined : 'different';
  return isPending(node) ? undefined : 'missing';
}

/** A value with an unmet dependency is not there on purpose, nor is the last valid one of a rejected value. */
function isPending({ state, actual }: Node): boolean {
  return state === 'PENDING' || (state === 'INVALID' && actual === undefined);
}
