/**
 * Compares managed values with the southbound. The graph does not change: differences are reported,
 * not repaired. A downstream resync removes exactly them.
 */
import type { Drift, Difference as Entry } from '#documents/scheduler/drift.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { AnyDescriptor, RetrievedValue } from '../api/descriptor.ts';
import type { Value } from '../api/transaction.ts';
import { deepEqual } from '../graph/equality.ts';
import { nodesOf } from '../graph/graph.ts';
import type { Node } from '../graph/node.ts';
import { deriveFrom, foundDerived, isEquivalent } from './found-value.ts';
import { readAll } from './refresh.ts';
import type { SchedulerContext } from './scheduler-context.ts';

type Difference = Entry['Difference'];

/** @param only keys of the base values to compare; absent: all, and what no value desires */
export async function readDrift(
  context: SchedulerContext,
  only?: ReadonlySet<string>,
): Promise<Drift> {
  const { graph, slices } = context;
  const differences: Entry[] = [];
  const unread: Drift['Unread'][number][] = [];
  let compared = 0;
  for (const [descriptor, read] of await readAll(context, only)) {
    if (read instanceof Error) {
      unread.push({ Descriptor: descriptor.name, Error: errorText(read) });
      continue;
    }
    const values = new Map<string, RetrievedValue>();
    await slices.each(read.values, (value) => values.set(value.key, value));
    for (const node of only ? ownedBy(graph, descriptor, only) : nodesOf(graph, descriptor)) {
      if (slices.due()) await slices.turn();
      if (node.base) continue;
      compared++;
      const found = values.get(node.key);
      const { value, broken } = found ?? {};
      const difference = differenceOf(node, value);
      values.delete(node.key);
      if (difference !== undefined) {
        const fields = difference === 'different' && differingFields(node, value);
        differences.push({
          ...entry(node, descriptor, difference),
          ...(fields && { Reason: fields }),
        });
        continue;
      }
      if (found === undefined || node.unmanaged) continue;
      if (broken !== undefined) {
        differences.push({ ...entry(node, descriptor, 'broken'), Reason: broken });
        continue;
      }
      for (const one of derivedEntries(context, node, found)) {
        if (slices.due()) await slices.turn();
        compared++;
        if (one) differences.push(one);
      }
    }
    if (only) continue;
    for (const { key, origin } of values.values())
      if (origin === 'from-NB')
        differences.push({ Key: key, Descriptor: descriptor.name, Difference: 'stale' });
    for (const [key, { what }] of read.leftovers) {
      if (slices.due()) await slices.turn();
      differences.push(leftoverEntry(graph.peek(key), key, descriptor, what));
    }
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
  found: RetrievedValue,
): Generator<Entry | undefined, void, void> {
  const there = new Map(foundDerived(base, found).map(({ key, value }) => [key, value]));
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

function* ownedBy(
  graph: SchedulerContext['graph'],
  descriptor: AnyDescriptor,
  keys: ReadonlySet<string>,
): Generator<Node, void, void> {
  for (const key of keys) {
    const node = graph.peek(key);
    if (node?.descriptor === descriptor) yield node;
  }
}

/** Names of the fields; their values may be secret. */
function differingFields({ desired }: Node, found: Value | undefined): string {
  const before: Readonly<Record<string, unknown>> = { ...desired };
  const after: Readonly<Record<string, unknown>> = { ...found };
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !deepEqual(before[name], after[name])).join(', ');
}

function entry({ key, error }: Node, { name }: AnyDescriptor, difference: Difference): Entry {
  const failed = error !== undefined && { Error: errorText(error) };
  return { Key: key, Descriptor: name, Difference: difference, ...failed };
}

/** @param node exists if its removal failed */
function leftoverEntry(
  node: Node | undefined,
  key: string,
  { name }: AnyDescriptor,
  what: string,
): Entry {
  const failed = node?.error !== undefined && { Error: errorText(node.error) };
  return { Key: key, Descriptor: name, Difference: 'leftover', Reason: what, ...failed };
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
