/** Prepares a transaction for planning when it is its turn: its targets, and the nodes to reconcile. */

import { type Slices, sortInSlices, sortTextsInSlices } from '#infra/clock/slices.ts';
import type { NotifiedValue } from '../api/descriptor.ts';
import { InvalidTransactionError } from '../api/errors.ts';
import type {
  KeyFailure,
  RetryPolicy,
  TransactionMode,
  TransactionRequest,
  Value,
} from '../api/transaction.ts';
import { byKey } from '../graph/by-key.ts';
import type { Registry } from '../graph/descriptor-registry.ts';
import { deepEqual } from '../graph/equality.ts';
import type { Graph } from '../graph/graph.ts';
import { isUnknown, type Node } from '../graph/node.ts';
import {
  originNumber,
  type RecordedKeyValue,
  RecordedValue,
  type ResyncType,
  type TxnType,
} from '../history/record.ts';
import type { PlanScope, Target } from '../planner/input.ts';
import { type Refreshed, readBack, refreshAll } from './refresh.ts';
import type { RetryGroup } from './retry.ts';
import type { SchedulerContext } from './scheduler-context.ts';

const none: readonly never[] = [];
const noNodes: ReadonlySet<Node> = new Set();
const noKeys: ReadonlySet<string> = new Set();

export interface PreparedTransaction extends PlanScope {
  readonly type: TxnType;
  readonly resync: ResyncType | undefined;
  readonly description: string;
  readonly retry: RetryPolicy | undefined;
  readonly revert: boolean;
  readonly optional: ReadonlySet<string>;
  readonly values: readonly RecordedKeyValue[];
  /** Descriptors that could not read the southbound, under their key prefix. */
  readonly failures: readonly KeyFailure[];
}

/** @throws InvalidTransactionError */
export function assertValid({ mode, values, onFailure, retry }: TransactionRequest): void {
  const refuse = (reason: string, where?: string): never => {
    throw new InvalidTransactionError(reason, { where });
  };
  if (mode !== 'update' && onFailure === 'revert') refuse('a resync cannot be reverted');
  if (mode === 'downstream-resync' && values.size > 0)
    refuse('a downstream resync cannot be combined with changes');
  if (retry && !(retry.periodMs >= 0 && retry.maxAttempts >= 0))
    refuse('the retry policy has a negative number');
  for (const [key, value] of values) {
    if (key === '') refuse('a value has no key');
    if (value === null && mode !== 'update')
      refuse('a resync has null: it deletes the values that it does not name', key);
    if (typeof value !== 'object') refuse('the value is neither an object nor null', key);
  }
}

const resyncTypes: Readonly<Record<TransactionMode, ResyncType | undefined>> = {
  update: undefined,
  'full-resync': 'FullResync',
  'upstream-resync': 'UpstreamResync',
  'downstream-resync': 'DownstreamResync',
};

/**
 * The targets of a request, sorted by key.
 * @param isWhole the values are the whole desired state: all other managed values are removed
 */
export async function targetsOf(
  graph: Graph,
  values: ReadonlyMap<string, Value | null>,
  isWhole: boolean,
  slices: Slices,
): Promise<readonly Target[]> {
  const keys = [...values.keys()];
  if (isWhole)
    await slices.each([...graph.all()], ({ key, base, unmanaged }) => {
      if (!base && !unmanaged && !values.has(key)) keys.push(key);
    });
  const targets: Target[] = [];
  await slices.each(await sortTextsInSlices(keys, slices), (key) => {
    const value = values.get(key);
    if (value === undefined) targets.push({ key, value: null, orphan: true });
    else targets.push({ key, value });
  });
  return targets;
}

export async function prepareCommit(
  context: SchedulerContext,
  request: TransactionRequest,
): Promise<PreparedTransaction> {
  const { mode, values } = request;
  const { graph, slices } = context;
  const refreshes = mode === 'full-resync' || mode === 'downstream-resync';
  const { drifted, failures } = refreshes
    ? await refreshAll(context, values)
    : await readSome(context, request.reread ?? noKeys);
  const isWhole = mode === 'full-resync' || mode === 'upstream-resync';
  const targets = await targetsOf(graph, values, isWhole, slices);
  const reconcile: Node[] = [];
  if (mode === 'downstream-resync')
    for (const node of graph.all()) {
      if (slices.due()) await slices.turn();
      if (!node.base && !node.unmanaged && !isInDesiredState(node)) reconcile.push(node);
    }
  return {
    targets,
    reconcile,
    drifted,
    type: 'NBTransaction',
    resync: resyncTypes[mode],
    description: request.description,
    retry: request.retry,
    revert: request.onFailure === 'revert',
    optional: request.optional ?? noKeys,
    values: await recordTargets(context, targets, mode === 'full-resync' ? values : undefined),
    failures: failures.map(({ descriptor, error }) => ({
      key: descriptor.nbKeyPrefix ?? descriptor.keyPrefixes[0] ?? descriptor.name,
      operation: 'UNDEFINED',
      error,
    })),
  };
}

/** @returns undefined if none of the reported values is relevant */
export async function prepareNotification(
  context: SchedulerContext,
  pairs: readonly NotifiedValue[],
): Promise<PreparedTransaction | undefined> {
  const { slices } = context;
  const targets: Target[] = [];
  for (const pair of pairs) {
    if (slices.due()) await slices.turn();
    if (isRelevant(context, pair)) targets.push({ ...pair, unmanaged: true });
  }
  if (targets.length === 0) return undefined;
  return {
    ...unsolicited,
    targets,
    reconcile: none,
    drifted: noNodes,
    type: 'SBNotification',
    values: await recordEach(context, targets, true),
  };
}

function isRelevant(
  { graph, writer, registry }: SchedulerContext,
  { key, value, metadata }: NotifiedValue,
): boolean {
  const node = graph.get(key);
  if (node?.base) return false;
  // A value that was never valid does not keep the key from being unmanaged: resyncs do the same.
  if (!node || isUnknown(node)) return value !== null && registry.tryFind(key) !== undefined;
  if (!node.unmanaged) return false;
  if (value === null || !deepEqual(node.actual, value)) return true;
  writer.setMetadata(node, metadata);
  return false;
}

/** @returns undefined if there is no value left to retry; other failed values are not retried */
export async function prepareRetry(
  context: SchedulerContext,
  { bases }: RetryGroup,
): Promise<PreparedTransaction | undefined> {
  const { drifted } = await readSome(context, noKeys);
  if (bases.size === 0 && drifted.size === 0) return undefined;
  const reconcile = await sortInSlices([...bases], byKey, context.slices);
  return {
    ...unsolicited,
    targets: none,
    reconcile,
    drifted,
    dueRetries: bases,
    type: 'RetryFailedOps',
    values: await recordEach(
      context,
      reconcile.map(({ key, desired, rejected }) => ({
        key,
        value: rejected?.value ?? desired ?? null,
      })),
      false,
    ),
  };
}

const unsolicited = {
  resync: undefined,
  description: '',
  retry: undefined,
  revert: false,
  optional: noKeys,
  failures: none,
} as const;

/** Reads these values, and values of unknown outcome, back before any operation. */
async function readSome(context: SchedulerContext, keys: ReadonlySet<string>): Promise<Refreshed> {
  const bases = new Set<Node>();
  for (const node of context.graph.withUnknownOutcome) bases.add(node.root);
  for (const key of keys) {
    const node = context.graph.get(key);
    if (node && !node.unmanaged) bases.add(node.root);
  }
  if (bases.size === 0) return { drifted: new Set(), failures: none };
  const { drifted, failures } = await readBack(context, bases);
  return { drifted, failures: keys.size === 0 ? none : failures };
}

/** Whether a value and its derived values are in the desired state. */
function isInDesiredState(node: Node): boolean {
  const isOne = ({ state, actual, desired, rejected, outOfSync }: Node): boolean =>
    state === (rejected ? 'INVALID' : 'CONFIGURED') && actual === desired && !outOfSync;
  return isOne(node) && [...node.derived].every(isOne);
}

function recordTarget(
  graph: Graph,
  registry: Registry,
  { key, value }: { readonly key: string; readonly value: Value | null },
  isUnmanaged: boolean,
): RecordedKeyValue {
  const descriptor = graph.get(key)?.descriptor ?? registry.tryFind(key);
  return {
    Key: key,
    Value: value === null ? null : new RecordedValue(descriptor, value),
    Origin: originNumber[isUnmanaged ? 'from-SB' : 'from-NB'],
  };
}

/** @param desired set if unmanaged values that stay unmanaged are recorded, too */
async function recordTargets(
  context: SchedulerContext,
  targets: readonly Target[],
  desired: ReadonlyMap<string, Value | null> | undefined,
): Promise<RecordedKeyValue[]> {
  const { graph, registry, slices } = context;
  const values = await recordEach(context, targets, false);
  // Targets are in order.
  if (!desired) return values;
  for (const { key, base, unmanaged, actual } of graph.all()) {
    if (slices.due()) await slices.turn();
    if (unmanaged && !base && actual !== undefined && !desired.has(key))
      values.push(recordTarget(graph, registry, { key, value: actual }, true));
  }
  return sortInSlices(values, (a, b) => (a.Key < b.Key ? -1 : 1), slices);
}

async function recordEach(
  { graph, registry, slices }: SchedulerContext,
  targets: readonly Target[],
  isUnmanaged: boolean,
): Promise<RecordedKeyValue[]> {
  const values: RecordedKeyValue[] = [];
  await slices.each(targets, (target) => {
    values.push(recordTarget(graph, registry, target, isUnmanaged));
  });
  return values;
}
