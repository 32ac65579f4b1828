/** What a transaction aims at, worked out when its turn has come. */

import { type Slices, sortInSlices } from '#infra/clock/slices.ts';
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
import type { Graph, Node } from '../graph/graph.ts';
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

const nothing: readonly never[] = [];
const nobody: ReadonlySet<Node> = new Set();

export interface PreparedTransaction extends PlanScope {
  readonly type: TxnType;
  readonly resync: ResyncType | undefined;
  readonly description: string;
  readonly retry: RetryPolicy | undefined;
  readonly revert: boolean;
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
  if (retry && !(retry.periodMs >= 0 && retry.maxAttempts >= 0)) refuse('retry policy below zero');
  for (const [key, value] of values) {
    if (key === '') refuse('a value has no key');
    if (value === null && mode !== 'update') refuse('a resync deletes by leaving out', key);
    if (typeof value !== 'object') refuse('neither a value nor null', key);
  }
}

const resyncTypes: Readonly<Record<TransactionMode, ResyncType | undefined>> = {
  update: undefined,
  'full-resync': 'FullResync',
  'upstream-resync': 'UpstreamResync',
  'downstream-resync': 'DownstreamResync',
};

/**
 * What the northbound aims at, by key: the order of plan and record, which costs little to make
 * where it is given.
 * @param isWhole the values are all that is wished: what else is ours goes
 */
export async function targetsOf(
  graph: Graph,
  values: ReadonlyMap<string, Value | null>,
  isWhole: boolean,
  slices: Slices,
): Promise<readonly Target[]> {
  const targets: Target[] = [];
  for (const [key, value] of values) {
    if (slices.due()) await slices.turn();
    targets.push({ key, value });
  }
  if (isWhole)
    for (const { key, base, unmanaged: foreign } of graph.all()) {
      if (slices.due()) await slices.turn();
      if (!base && !foreign && !values.has(key)) targets.push({ key, value: null, orphan: true });
    }
  return sortInSlices(targets, byKey, slices);
}

export async function prepareCommit(
  around: SchedulerContext,
  request: TransactionRequest,
): Promise<PreparedTransaction> {
  const { mode, values } = request;
  const { graph, slices } = around;
  const refreshes = mode === 'full-resync' || mode === 'downstream-resync';
  const { drifted: moved, failures } = refreshes
    ? await refreshAll(around, values)
    : await readUnknown(around);
  const isWhole = mode === 'full-resync' || mode === 'upstream-resync';
  const targets = await targetsOf(graph, values, isWhole, slices);
  const examine: Node[] = [];
  if (mode === 'downstream-resync')
    for (const node of graph.all()) {
      if (slices.due()) await slices.turn();
      if (!node.base && !node.unmanaged && !isSettled(node)) examine.push(node);
    }
  return {
    targets,
    reconcile: examine,
    drifted: moved,
    retryNotDue: nobody,
    type: 'NBTransaction',
    resync: resyncTypes[mode],
    description: request.description,
    retry: request.retry,
    revert: request.onFailure === 'revert',
    values: await recordTargets(around, targets, mode === 'full-resync' ? values : undefined),
    failures: failures.map(({ descriptor, error }) => ({
      key: descriptor.nbKeyPrefix ?? descriptor.keyPrefixes[0] ?? descriptor.name,
      operation: 'UNDEFINED',
      error,
    })),
  };
}

/** What is reported, without what concerns nobody: undefined when nothing is left. */
export async function prepareNotification(
  around: SchedulerContext,
  pairs: readonly NotifiedValue[],
): Promise<PreparedTransaction | undefined> {
  const { slices } = around;
  const targets: Target[] = [];
  for (const pair of pairs) {
    if (slices.due()) await slices.turn();
    if (isRelevant(around, pair)) targets.push({ ...pair, unmanaged: true });
  }
  if (targets.length === 0) return undefined;
  return {
    ...unsolicited,
    targets,
    reconcile: nothing,
    drifted: nobody,
    type: 'SBNotification',
    values: await recordEach(around, targets, true),
  };
}

function isRelevant(
  { graph, writer, registry }: SchedulerContext,
  { key, value, metadata }: NotifiedValue,
): boolean {
  const node = graph.get(key);
  if (!node) return value !== null && registry.tryFind(key) !== undefined;
  if (!node.unmanaged || node.base) return false;
  if (value === null || !deepEqual(node.actual, value)) return true;
  writer.setMetadata(node, metadata);
  return false;
}

/** A repetition; undefined when nothing is left of it. What has failed besides is left alone. */
export async function prepareRetry(
  around: SchedulerContext,
  { bases }: RetryGroup,
): Promise<PreparedTransaction | undefined> {
  const { graph, slices } = around;
  const { drifted: moved } = await readUnknown(around);
  if (bases.size === 0 && moved.size === 0) return undefined;
  const resting = new Set<Node>();
  for (const node of graph.failed) {
    if (slices.due()) await slices.turn();
    if (node.actual !== undefined && !bases.has(node.root)) resting.add(node);
  }
  const examine = await sortInSlices([...bases], byKey, slices);
  return {
    ...unsolicited,
    targets: nothing,
    reconcile: examine,
    drifted: moved,
    retryNotDue: resting,
    type: 'RetryFailedOps',
    values: await recordEach(
      around,
      examine.map(({ key, desired: wanted }) => ({ key, value: wanted ?? null })),
      false,
    ),
  };
}

const unsolicited = {
  resync: undefined,
  description: '',
  retryNotDue: nobody,
  retry: undefined,
  revert: false,
  failures: nothing,
} as const;

/** Values of unknown outcome are read back before anything is done. */
async function readUnknown(around: SchedulerContext): Promise<Refreshed> {
  const bases = new Set<Node>();
  for (const node of around.graph.withUnknownOutcome) bases.add(node.root);
  if (bases.size === 0) return { drifted: new Set(), failures: nothing };
  const { drifted: moved } = await readBack(around, bases);
  return { drifted: moved, failures: nothing };
}

/** Whether a value and all that is derived from it are as they are wished. */
function isSettled(node: Node): boolean {
  const isFine = ({ state, actual, desired: wanted, outOfSync: overdue }: Node): boolean =>
    state === 'CONFIGURED' && actual === wanted && !overdue;
  return isFine(node) && [...node.derived].every(isFine);
}

function recordTarget(
  graph: Graph,
  registry: Registry,
  { key, value }: { readonly key: string; readonly value: Value | null },
  foreign: boolean,
): RecordedKeyValue {
  const descriptor = graph.get(key)?.descriptor ?? registry.tryFind(key);
  return {
    Key: key,
    Value: value === null ? null : new RecordedValue(descriptor, value),
    Origin: originNumber[foreign ? 'from-SB' : 'from-NB'],
  };
}

/** @param wished set where what is there without being ours, and stays so, is told too */
async function recordTargets(
  around: SchedulerContext,
  targets: readonly Target[],
  wished: ReadonlyMap<string, Value | null> | undefined,
): Promise<RecordedKeyValue[]> {
  const { graph, registry, slices } = around;
  const values = await recordEach(around, targets, false);
  if (wished)
    for (const { key, base, unmanaged: foreign, actual } of graph.all()) {
      if (slices.due()) await slices.turn();
      if (foreign && !base && actual !== undefined && !wished.has(key))
        values.push(recordTarget(graph, registry, { key, value: actual }, true));
    }
  return sortInSlices(values, (a, b) => (a.Key < b.Key ? -1 : 1), slices);
}

async function recordEach(
  { graph, registry, slices }: SchedulerContext,
  targets: readonly Target[],
  foreign: boolean,
): Promise<RecordedKeyValue[]> {
  const values: RecordedKeyValue[] = [];
  for (const target of targets) {
    if (slices.due()) await slices.turn();
    values.push(recordTarget(graph, registry, target, foreign));
  }
  return values;
}
