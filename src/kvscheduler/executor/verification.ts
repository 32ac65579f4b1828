/**
 * Compares the values that a transaction touched with the southbound afterwards. The graph does not
 * change: differences are reported, not repaired.
 */

import { CodedError, type ErrorDetails, errorText } from '#infra/errors/errors.ts';
import type { AnyDescriptor, RetrievedValue } from '../api/descriptor.ts';
import type { Value } from '../api/transaction.ts';
import type { Graph } from '../graph/graph.ts';
import type { Node } from '../graph/node.ts';
import { foundDerived, isEquivalent } from './found-value.ts';
import { type RetrieveFailure, readSouthbound } from './refresh.ts';
import type { SchedulerContext } from './scheduler-context.ts';

export type MismatchType = 'ExpectedToExist' | 'ExpectedToNotExist' | 'NotEquivalent';

const texts: Readonly<Record<MismatchType, string>> = {
  ExpectedToExist: 'value is not actually configured',
  ExpectedToNotExist: 'value is not actually removed',
  NotEquivalent: 'value is not actually what it was configured to be',
};

/** The southbound differs from what the transaction configured. */
export class VerificationError extends CodedError {
  readonly code = 'CV_SCHED_VERIFICATION';
  readonly remedy =
    'Compare GET /scheduler/dump with view=SB and view=cached, then start a resync.';
  override readonly name = 'VerificationError';
  readonly type: MismatchType;

  constructor(type: MismatchType, details: ErrorDetails) {
    super(texts[type], details);
    this.type = type;
  }
}

export interface Mismatch {
  readonly key: string;
  readonly error: VerificationError;
}

export interface Verified {
  /** By key. */
  readonly mismatches: readonly Mismatch[];
  /** Descriptors that could not be read. */
  readonly unread: readonly RetrieveFailure[];
}

/** @param touched nodes that a transaction has just changed or removed */
export async function verify(
  context: SchedulerContext,
  touched: Iterable<Node>,
): Promise<Verified> {
  const { graph, registry, slices } = context;
  const bases = new Map<AnyDescriptor, Map<string, Node>>();
  for (const { root } of touched) {
    if (slices.due()) await slices.turn();
    const { descriptor, key } = root;
    if (!descriptor?.retrieve) continue;
    const ofDescriptor = bases.get(descriptor) ?? new Map<string, Node>();
    bases.set(descriptor, ofDescriptor.set(key, graph.peek(key) ?? root));
  }
  const mismatches: Mismatch[] = [];
  const unread: RetrieveFailure[] = [];
  for (const descriptor of registry.descriptors) {
    const nodes = bases.get(descriptor);
    if (!nodes) continue;
    try {
      const found = await readSouthbound(context, descriptor, new Set(nodes.keys()));
      const byKey = new Map<string, RetrievedValue>();
      for (const one of found) {
        if (slices.due()) await slices.turn();
        byKey.set(one.key, one);
      }
      for (const [key, node] of nodes) {
        if (slices.due()) await slices.turn();
        mismatches.push(...compare(graph, node, byKey.get(key)));
      }
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(errorText(thrown));
      unread.push({ descriptor, error });
    }
  }
  return { mismatches: mismatches.sort((a, b) => (a.key < b.key ? -1 : 1)), unread };
}

function* compare(
  graph: Graph,
  node: Node,
  found: RetrievedValue | undefined,
): Generator<Mismatch, void, void> {
  // Unmanaged values may change at any time.
  if (node.unmanaged) return;
  const managed = found?.origin === 'from-SB' && node.actual === undefined ? undefined : found;
  yield* compareOne(node, managed?.value);
  const derived = new Map<string, Value>();
  if (managed)
    for (const { key, value } of foundDerived(node, managed))
      if (!derived.has(key)) derived.set(key, value);
  for (const child of node.derived) yield* compareOne(child, derived.get(child.key));
  for (const key of derived.keys()) {
    const child = graph.peek(key);
    // The value is not in the graph: its base differs.
    if (!child && node.actual !== undefined) yield mismatch('ExpectedToNotExist', key);
  }
}

function* compareOne(node: Node, found: Value | undefined): Generator<Mismatch, void, void> {
  const { key, actual, outcomeUnknown } = node;
  // A value whose last operation has an unknown outcome may be anything.
  if (outcomeUnknown || (actual === undefined && found === undefined)) return;
  if (found === undefined) yield mismatch('ExpectedToExist', key);
  else if (actual === undefined) yield mismatch('ExpectedToNotExist', key);
  else if (!isEquivalent(node, actual, found)) yield mismatch('NotEquivalent', key);
}

function mismatch(type: MismatchType, key: string): Mismatch {
  return { key, error: new VerificationError(type, { where: key }) };
}
