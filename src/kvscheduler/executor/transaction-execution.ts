/**
 * One transaction from its plan to its end. Best effort: execute the plan; if operations failed, read
 * their values back and plan again around them, until a plan succeeds. All or nothing: stop at the
 * first failure and undo.
 */

import { errorText } from '#infra/errors/errors.ts';
import {
  UnimplementedValueError,
  UnknownOutcomeError,
  UnmetDependencyError,
} from '../api/errors.ts';
import type { KeyFailure, RetryPolicy } from '../api/transaction.ts';
import type { Node } from '../graph/node.ts';
import type { RecordedTxnOp } from '../history/record.ts';
import { recordFailed, recordPlanned } from '../history/record.ts';
import type { PlanInput, PlanScope } from '../planner/input.ts';
import type { PlannedOperation } from '../planner/operation.ts';
import type { BlockReason, PlannedValue } from '../planner/planned-value.ts';
import { makePlan, type Plan } from '../planner/planner.ts';
import { execute, executeByLevel, type Outcome } from './executor.ts';
import { type AppliedPlan, DesiredStateBackup, type PlanOrigin } from './graph-writer.ts';
import { type Refreshed, readBack } from './refresh.ts';
import type { SchedulerContext } from './scheduler-context.ts';

export interface TransactionSettings {
  readonly seqNum: number;
  /** Set when the northbound sets values: its retry policy applies to them from now on. */
  readonly fromNorth: boolean;
  readonly retry: RetryPolicy | undefined;
  readonly revert: boolean;
  /** Keys of values that may stay pending although the transaction reverts. */
  readonly optional: ReadonlySet<string>;
  /** Whether a failure of a base value is going to be retried. */
  readonly mayRetry: (base: Node) => boolean;
  readonly isRetry: boolean;
}

const none: readonly never[] = [];

export class TransactionExecution {
  readonly failures: KeyFailure[] = [];
  readonly executed: RecordedTxnOp[] = [];
  planned: readonly RecordedTxnOp[] = none;
  readonly #context: SchedulerContext;
  readonly #settings: TransactionSettings;
  readonly #failed = new Set<Node>();
  /** Each once. The nodes are marked: a set of 100,000 nodes stops the main thread when it grows. */
  readonly #touched: Node[] = [];
  /** Values that were in the desired state until one that is derived from them failed. */
  readonly #updatesBlocked = new Set<Node>();
  #dueRetries: ReadonlySet<Node> | undefined;
  #reverting = false;
  /** Nodes that were available before a transaction that is being undone. */
  #restored: ReadonlySet<Node> | undefined;
  #plan: Plan | undefined;

  constructor(context: SchedulerContext, settings: TransactionSettings) {
    this.#context = context;
    this.#settings = settings;
  }

  /** Makes the plan; no value changes yet. */
  async prepare(scope: PlanScope): Promise<void> {
    await this.#touch(scope.drifted);
    this.#dueRetries = scope.dueRetries;
    this.#plan = await this.#makePlan(scope);
    this.planned = await this.#recordPlan(this.#plan);
  }

  /** Executes the plan. */
  async execute(): Promise<void> {
    const plan = this.#plan as Plan;
    for (const { key, error } of plan.refused)
      this.failures.push({ key, operation: 'VALIDATE', error });
    if (this.#settings.revert) await this.#allOrNothing(plan);
    else {
      await this.#failBlockedTargets(plan);
      await this.#bestEffort(plan, undefined);
    }
    const { writer } = this.#context;
    await writer.removeUnused(this.#touched);
    const served = new Map<Node, number>();
    for (;;) {
      const bases = writer.takeContenders(served);
      if (bases.length === 0) return;
      const plan = await this.#makePlan({ targets: none, reconcile: bases, drifted: new Set() });
      await this.#bestEffort(plan, undefined);
      await writer.removeUnused(this.#touched);
    }
  }

  /** Nodes that may have changed; some of them are removed. */
  get touched(): readonly Node[] {
    return this.#touched;
  }

  /** Nodes with an operation that failed and was not undone. */
  get failed(): ReadonlySet<Node> {
    return this.#failed;
  }

  async #bestEffort(first: Plan, undoOrder: readonly string[] | undefined): Promise<void> {
    const { graph, slices } = this.#context;
    for (let plan = first; ; ) {
      const applied = await this.#apply(plan, undefined);
      const outcomes = await execute(plan.operations, this.#executorOptions(applied));
      const { failed } = await this.#collect(plan, applied, outcomes);
      if (failed.size === 0) return;
      const { drifted } = await this.#readBack(failed);
      const reconcile: Node[] = [];
      for (const node of this.#touched) {
        if (slices.due()) await slices.turn();
        if (node.unmanaged || (node.actual === node.desired && !node.outOfSync)) continue;
        if (graph.get(node.key) === node) reconcile.push(node);
      }
      plan = await this.#makePlan({ targets: none, reconcile, drifted }, undoOrder);
    }
  }

  async #allOrNothing(plan: Plan): Promise<void> {
    const { slices, writer } = this.#context;
    for (const failure of await unfulfilled(plan, this.#settings.optional, slices))
      this.failures.push(failure);
    if (this.failures.length > 0) return;
    const backup = new DesiredStateBackup();
    const applied = await this.#apply(plan, backup);
    const outcomes = await executeByLevel(plan.operations, this.#executorOptions(applied));
    const { failed, executed } = await this.#collect(plan, applied, outcomes);
    if (failed.size === 0) return;
    const { drifted } = await this.#readBack(failed);
    this.#reverting = true;
    this.#restored = backup.available;
    const reconcile = await writer.restore(backup);
    for (const node of failed)
      if (node.outcomeUnknown) writer.setFailed(node, this.#mayRetry(node.root));
    this.#failed.clear();
    this.#updatesBlocked.clear();
    const undoOrder = executed.toReversed();
    const undo = await this.#makePlan({ targets: none, reconcile, drifted }, undoOrder);
    await this.#bestEffort(undo, undoOrder);
    await writer.release(backup);
  }

  async #makePlan(
    { targets, reconcile, drifted }: Omit<PlanScope, 'dueRetries'>,
    undoOrder?: readonly string[],
  ): Promise<Plan> {
    const { graph, registry, slices, log } = this.#context;
    const input: PlanInput = {
      targets,
      reconcile,
      drifted,
      graph,
      registry,
      blocked: this.#blocked(),
      updatesBlocked: this.#updatesBlocked,
      slices,
      log,
      ...(this.#dueRetries && { dueRetries: this.#dueRetries }),
      ...(undoOrder && { undoOrder }),
      ...(this.#restored && { restored: this.#restored }),
    };
    return makePlan(input);
  }

  #blocked(): ReadonlyMap<Node, BlockReason> {
    const { graph } = this.#context;
    const blocked = new Map<Node, BlockReason>();
    // The key of a failed value that was removed with its base is free for another value.
    for (const node of this.#failed) if (graph.get(node.key) === node) blocked.set(node, 'failed');
    for (const node of graph.withUnknownOutcome) blocked.set(node, 'unknown outcome');
    return blocked;
  }

  async #apply(plan: Plan, backup: DesiredStateBackup | undefined): Promise<AppliedPlan> {
    const { slices, writer } = this.#context;
    const { seqNum, retry } = this.#settings;
    const origin: PlanOrigin = {
      seqNum,
      retry,
      // Later plans of the same transaction repair; they set no values.
      fromNorth: this.#settings.fromNorth && plan === this.#plan,
      mayRetry: (base) => this.#mayRetry(base),
    };
    const applied = await writer.applyPlan(plan, origin, backup);
    await slices.each(applied.nodes, (node) => {
      if (node && writer.setTouched(node, seqNum)) this.#touched.push(node);
    });
    return applied;
  }

  /** Notes nodes that were found to differ from what was known. */
  async #touch(nodes: Iterable<Node>): Promise<void> {
    const { slices, writer } = this.#context;
    const { seqNum } = this.#settings;
    for (const node of nodes) {
      if (slices.due()) await slices.turn();
      writer.setLastTransaction(node, seqNum);
      if (writer.setTouched(node, seqNum)) this.#touched.push(node);
    }
  }

  #executorOptions(results: AppliedPlan) {
    const { graph, window, slices, calls } = this.#context;
    return { graph, window, slices, calls, results };
  }

  /** Reads the bases of failed values back: derived values are part of them. */
  async #readBack(failed: ReadonlySet<Node>): Promise<Refreshed> {
    const { slices } = this.#context;
    const bases = new Set<Node>();
    for (const { root } of failed) {
      if (slices.due()) await slices.turn();
      bases.add(root);
      if (root.actual === root.desired) this.#updatesBlocked.add(root);
    }
    const refreshed = await readBack(this.#context, bases);
    await this.#touch(refreshed.drifted);
    return refreshed;
  }

  async #recordPlan(plan: Plan): Promise<RecordedTxnOp[]> {
    const { slices } = this.#context;
    const flags = { revert: this.#reverting, retry: this.#settings.isRetry };
    const records: RecordedTxnOp[] = [];
    await slices.each(plan.operations, (operation) => {
      if (!operation.silent) records.push(recordPlanned(operation, flags));
    });
    return records;
  }

  /**
   * Records the operations that were executed, in the order of the plan.
   * @returns their keys, and the nodes whose operation failed
   */
  async #collect(
    plan: Plan,
    applied: AppliedPlan,
    outcomes: readonly Outcome[],
  ): Promise<{ readonly executed: string[]; readonly failed: ReadonlySet<Node> }> {
    const { slices } = this.#context;
    const planned = plan === this.#plan ? this.planned : await this.#recordPlan(plan);
    const executed: string[] = [];
    const failed = new Set<Node>();
    let next = 0;
    await slices.each(plan.operations, (operation, index) => {
      if (operation.silent) return;
      const record = planned[next++] as RecordedTxnOp;
      const outcome = outcomes[index];
      if (!outcome) return;
      const { error } = outcome;
      const node = applied.nodeOf(operation.value);
      executed.push(node.key);
      this.executed.push(error ? recordFailed(record, node.state, error) : record);
      if (error) {
        failed.add(node);
        this.#failed.add(node);
      }
      if (error || operation.newlyRejected) this.#reportFailure(operation, node, error);
    });
    return { executed, failed };
  }

  #reportFailure(
    { operation, newlyRejected, errorAfter }: PlannedOperation,
    { key, root }: Node,
    error: Error | undefined,
  ): void {
    const base = root.key === key ? undefined : { base: root.key };
    const revert = this.#reverting && { revert: true as const };
    if (error) this.failures.push({ key, ...base, operation, error, ...revert });
    // The targets of an all-or-nothing transaction were validated before it began.
    if (newlyRejected && errorAfter && !this.#settings.revert)
      this.failures.push({ key, ...base, operation: 'VALIDATE', error: errorAfter });
  }

  /** Reports targets that cannot be set, because their operations are blocked. */
  async #failBlockedTargets(plan: Plan): Promise<void> {
    const { slices } = this.#context;
    await slices.each(plan.values, (value) => {
      if (value.role === 'target' && value.isBlocked) this.failures.push(unknownOutcome(value));
    });
  }

  #mayRetry(base: Node): boolean {
    const { revert, mayRetry } = this.#settings;
    return (!revert || this.#reverting) && mayRetry(base);
  }
}

/** Targets that the plan would not reach. Their derived values may be pending, but not invalid. */
async function unfulfilled(
  plan: Plan,
  optional: ReadonlySet<string>,
  slices: SchedulerContext['slices'],
): Promise<readonly KeyFailure[]> {
  const failures: KeyFailure[] = [];
  const targets = new Set<string>();
  for (const { key, role } of plan.values) {
    if (slices.due()) await slices.turn();
    if (role === 'target') targets.add(key);
  }
  const awaitedBy = new Map<PlannedValue, readonly string[]>();
  for (const { value, awaited } of plan.operations) {
    if (slices.due()) await slices.turn();
    if (awaited.length > 0) awaitedBy.set(value, awaited);
  }
  for (const value of plan.values) {
    if (slices.due()) await slices.turn();
    const { key, goal, baseKey } = value;
    const invalid = goal.rejected?.error;
    if (invalid && baseKey !== undefined && targets.has(baseKey))
      failures.push({ key, base: baseKey, operation: 'VALIDATE', error: invalid });
    if (value.role !== 'target') continue;
    const operation = value.exists ? 'UPDATE' : 'CREATE';
    if (value.isBlocked) failures.push(unknownOutcome(value));
    else if (invalid) failures.push({ key, operation: 'VALIDATE', error: invalid });
    else if (goal.desired === undefined) continue;
    else if (!value.isImplemented) {
      const error = new UnimplementedValueError('no descriptor owns the key', { where: key });
      failures.push({ key, operation, error });
    } else if (!value.isAvailable && !optional.has(key)) {
      const reasons = awaitedBy.get(value)?.join(', ') ?? '';
      const error = new UnmetDependencyError(reasons, { where: key });
      failures.push({ key, operation, error });
    }
  }
  return failures;
}

function unknownOutcome({ key, node }: PlannedValue): KeyFailure {
  const cause = node?.error ? ` (${errorText(node.error)})` : '';
  const reason = node?.outcomeUnknown
    ? `could not be read back after its last operation${cause}`
    : 'is needed by a value that could not be read back after its last operation';
  const error = new UnknownOutcomeError(reason, { where: key, cause: node?.error });
  return { key, operation: 'UNDEFINED', error };
}
