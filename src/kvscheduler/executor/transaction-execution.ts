/**
 * One transaction from its plan to its end: carry the plan out; where something failed, read back
 * what failed and plan again around it, until a plan went through. A transaction that has to be
 * all or nothing ends at its first failure instead and is undone.
 */

import type { Slices } from '#infra/clock/slices.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import {
  UnimplementedValueError,
  UnknownOutcomeError,
  UnmetDependencyError,
} from '../api/errors.ts';
import type { KeyFailure, RetryPolicy } from '../api/transaction.ts';
import type { Registry } from '../graph/descriptor-registry.ts';
import type { Graph, Node } from '../graph/graph.ts';
import type { RecordedTxnOp } from '../history/record.ts';
import { recordFailed, recordPlanned } from '../history/record.ts';
import type { PlanInput, Target } from '../planner/input.ts';
import type { Draft } from '../planner/planned-value.ts';
import { makePlan, type Plan } from '../planner/planner.ts';
import type { DescriptorCalls } from './descriptor-calls.ts';
import { FormerWishes, noteWishes, sweep } from './desired-state.ts';
import { GraphEffects, type RetryRule } from './effects.ts';
import { execute, executeByLevel, type Outcome } from './executor.ts';
import { readBack } from './refresh.ts';

export interface SchedulerContext {
  readonly graph: Graph;
  readonly registry: Registry;
  readonly window: number;
  readonly log: Logger;
  readonly slices: Slices;
  readonly calls: DescriptorCalls;
}

export interface TransactionSettings {
  readonly seqNum: number;
  /** The northbound speaks: its policy counts for its values from now on. */
  readonly fromNorth: boolean;
  readonly retry: RetryPolicy | undefined;
  readonly revert: boolean;
  /** Whether a failure of a base value is going to be repeated. */
  readonly mayRepeat: (base: Node) => boolean;
  readonly isRetry: boolean;
}

export interface PlanScope {
  readonly targets: readonly Target[];
  readonly reconcile: readonly Node[];
  readonly drifted: ReadonlySet<Node>;
  /** Nodes that have failed and stand there, and that are left alone until their time comes. */
  readonly retryNotDue: ReadonlySet<Node>;
}

const nothing: readonly never[] = [];

export class TransactionExecution {
  readonly failures: KeyFailure[] = [];
  readonly executed: RecordedTxnOp[] = [];
  planned: readonly RecordedTxnOp[] = nothing;
  readonly #around: SchedulerContext;
  readonly #settings: TransactionSettings;
  readonly #effects: GraphEffects;
  readonly #touched = new Set<Node>();
  /** Values that were as wished until something derived from them failed. */
  readonly #settled = new Set<Node>();
  #resting: ReadonlySet<Node> = new Set();
  #reverting = false;
  /** What was there before a transaction that is being undone. */
  #restored: ReadonlySet<Node> | undefined;
  #plan: Plan | undefined;

  constructor(around: SchedulerContext, settings: TransactionSettings) {
    this.#around = around;
    this.#settings = settings;
    const rule: RetryRule = { mayRetry: (base) => this.#mayRetry(base) };
    this.#effects = new GraphEffects(around.graph, rule, settings.seqNum);
  }

  /** Works out what to do; nothing is changed yet. */
  async prepare(aims: PlanScope): Promise<void> {
    await this.#touch(aims.drifted);
    this.#resting = aims.retryNotDue;
    this.#plan = await this.#makePlan(aims);
    this.planned = await this.#recordPlan(this.#plan);
  }

  /** Does it. */
  async carryOut(): Promise<void> {
    const plan = this.#plan as Plan;
    for (const { key, error } of plan.refused)
      this.failures.push({ key, operation: 'VALIDATE', error });
    if (this.#settings.revert) await this.#allOrNothing(plan);
    else {
      await this.#failHeld(plan);
      await this.#asMuchAsPossible(plan, undefined);
    }
    await sweep(this.#around.graph, this.#touched, this.#around.slices);
  }

  /** Nodes that may be different now; some of them are gone. */
  get touched(): Set<Node> {
    return this.#touched;
  }

  /** Nodes of which an operation failed, in the end. */
  get failed(): ReadonlySet<Node> {
    return this.#effects.frozen;
  }

  async #asMuchAsPossible(first: Plan, order: readonly string[] | undefined): Promise<void> {
    const { graph, slices } = this.#around;
    for (let plan = first; ; ) {
      await this.#note(plan, undefined);
      const outcomes = await execute(plan.operations, this.#executorOptions());
      const { failed } = await this.#collect(plan, outcomes);
      if (failed.size === 0) return;
      const { drifted: moved } = await this.#readBack(failed);
      const examine: Node[] = [];
      for (const node of this.#touched) {
        if (slices.due()) await slices.turn();
        if (node.unmanaged || (node.actual === node.desired && !node.outOfSync)) continue;
        if (graph.get(node.key) === node) examine.push(node);
      }
      plan = await this.#makePlan({ targets: nothing, reconcile: examine, drifted: moved }, order);
    }
  }

  async #allOrNothing(plan: Plan): Promise<void> {
    for (const failure of await unfulfilled(plan, this.#around.slices)) this.failures.push(failure);
    if (this.failures.length > 0) return;
    const former = new FormerWishes();
    await this.#note(plan, former);
    const outcomes = await executeByLevel(plan.operations, this.#executorOptions());
    const { failed, done } = await this.#collect(plan, outcomes);
    if (failed.size === 0) return;
    const { drifted: moved } = await this.#readBack(failed);
    this.#reverting = true;
    this.#restored = former.stood;
    const { graph, slices } = this.#around;
    const examine = await former.restore(graph, slices);
    for (const node of failed)
      if (node.outcomeUnknown) node.state = this.#mayRetry(node.root) ? 'RETRYING' : 'FAILED';
    this.#effects.frozen.clear();
    this.#settled.clear();
    const order = done.reverse();
    const undo = await this.#makePlan(
      { targets: nothing, reconcile: examine, drifted: moved },
      order,
    );
    await this.#asMuchAsPossible(undo, order);
  }

  async #makePlan(aims: Omit<PlanScope, 'retryNotDue'>, order?: readonly string[]): Promise<Plan> {
    const { graph, registry, slices, log } = this.#around;
    const { targets, reconcile: examine, drifted: moved } = aims;
    const input: PlanInput = {
      targets,
      reconcile: examine,
      drifted: moved,
      graph,
      registry,
      frozen: new Set([...this.#effects.frozen, ...graph.withUnknownOutcome, ...this.#resting]),
      settled: this.#settled,
      slices,
      log,
      ...(order && { order }),
      ...(this.#restored && { restored: this.#restored }),
    };
    return makePlan(input);
  }

  async #note(plan: Plan, former: FormerWishes | undefined): Promise<void> {
    const { graph, slices } = this.#around;
    const { seqNum, retry } = this.#settings;
    // Later plans of the same transaction repair; they wish for nothing new.
    const fromNorth = this.#settings.fromNorth && plan === this.#plan;
    await noteWishes(graph, plan.drafts, { seqNum, retry, fromNorth }, former, slices);
    for (const { live } of plan.drafts) {
      if (slices.due()) await slices.turn();
      if (live) this.#touched.add(live);
    }
    for (const node of plan.pinned) graph.blocked.add(node);
  }

  /** Notes what was found to be another than was known. */
  async #touch(nodes: Iterable<Node>): Promise<void> {
    const { slices } = this.#around;
    for (const node of nodes) {
      if (slices.due()) await slices.turn();
      node.lastTxn = this.#settings.seqNum;
      this.#touched.add(node);
    }
  }

  #executorOptions() {
    const { graph, window, slices, calls } = this.#around;
    return { graph, window, slices, calls, effects: this.#effects };
  }

  /** Reads failed values back, or rather their bases: derived values show in them only. */
  async #readBack(failed: ReadonlySet<Node>) {
    const { slices } = this.#around;
    const bases = new Set<Node>();
    for (const { root } of failed) {
      if (slices.due()) await slices.turn();
      bases.add(root);
      if (root.actual === root.desired) this.#settled.add(root);
    }
    const refreshed = await readBack(this.#around, bases);
    await this.#touch(refreshed.drifted);
    return refreshed;
  }

  async #recordPlan(plan: Plan): Promise<RecordedTxnOp[]> {
    const { slices } = this.#around;
    const flags = { revert: this.#reverting, retry: this.#settings.isRetry };
    const records: RecordedTxnOp[] = [];
    for (const operation of plan.operations) {
      if (slices.due()) await slices.turn();
      if (!operation.silent) records.push(recordPlanned(operation, flags));
    }
    return records;
  }

  /** Records what was carried out, in the order of the plan: its keys, and what failed. */
  async #collect(
    plan: Plan,
    outcomes: readonly Outcome[],
  ): Promise<{ readonly done: string[]; readonly failed: ReadonlySet<Node> }> {
    const { slices } = this.#around;
    const planned = plan === this.#plan ? this.planned : await this.#recordPlan(plan);
    const done: string[] = [];
    const failed = new Set<Node>();
    let next = 0;
    for (const [index, operation] of plan.operations.entries()) {
      if (slices.due()) await slices.turn();
      if (operation.silent) continue;
      const record = planned[next++] as RecordedTxnOp;
      const outcome = outcomes[index];
      if (!outcome) continue;
      const { key } = operation.draft;
      const node = operation.draft.live as Node;
      const base = node.root === node ? undefined : { base: node.root.key };
      const { error } = outcome;
      const { errorAfter } = operation;
      done.push(key);
      this.executed.push(error ? recordFailed(record, node.state, error) : record);
      if (error) {
        failed.add(node);
        const revert = this.#reverting && { revert: true as const };
        this.failures.push({ key, ...base, operation: operation.operation, error, ...revert });
      } else if (errorAfter && !this.#settings.revert) {
        // Of a transaction that must be kept whole what is its own was judged before it began.
        this.failures.push({ key, ...base, operation: 'VALIDATE', error: errorAfter });
      }
    }
    return { done, failed };
  }

  /** Values that are wished but of which nobody knows what they are now. */
  async #failHeld(plan: Plan): Promise<void> {
    const { slices } = this.#around;
    for (const draft of plan.drafts) {
      if (slices.due()) await slices.turn();
      if (draft.target && draft.held) this.failures.push(unknownOutcome(draft));
    }
  }

  #mayRetry(base: Node): boolean {
    const { revert, mayRepeat } = this.#settings;
    return (!revert || this.#reverting) && mayRepeat(base);
  }
}

/** Wishes that a plan would leave open. A derived value may wait, but it may not be invalid. */
async function unfulfilled(plan: Plan, slices: Slices): Promise<KeyFailure[]> {
  const failures: KeyFailure[] = [];
  const targets = new Set<string>();
  for (const { key, target } of plan.drafts) {
    if (slices.due()) await slices.turn();
    if (target) targets.add(key);
  }
  const labelsOf = new Map<Draft, readonly string[]>();
  for (const { draft, labels } of plan.operations) {
    if (slices.due()) await slices.turn();
    if (labels.length > 0) labelsOf.set(draft, labels);
  }
  for (const draft of plan.drafts) {
    if (slices.due()) await slices.turn();
    const { key, wanted, invalid, held, up, baseKey } = draft;
    if (invalid && baseKey !== undefined && targets.has(baseKey))
      failures.push({ key, base: baseKey, operation: 'VALIDATE', error: invalid });
    if (!draft.target) continue;
    const operation = draft.current ? 'UPDATE' : 'CREATE';
    if (held) failures.push(unknownOutcome(draft));
    else if (wanted === undefined) continue;
    else if (invalid) failures.push({ key, operation: 'VALIDATE', error: invalid });
    else if (!draft.implemented) {
      const error = new UnimplementedValueError('no descriptor owns the key', { where: key });
      failures.push({ key, operation, error });
    } else if (!up) {
      const labels = labelsOf.get(draft)?.join(', ') ?? '';
      const error = new UnmetDependencyError(`waits for ${labels}`, { where: key });
      failures.push({ key, operation, error });
    }
  }
  return failures;
}

function unknownOutcome({ key, node }: Draft): KeyFailure {
  const cause = node?.error ? ` (${errorText(node.error)})` : '';
  const reason = node?.outcomeUnknown
    ? `could not be read back after its last operation${cause}`
    : 'is needed by a value that could not be read back after its last operation';
  const error = new UnknownOutcomeError(reason, { where: key, cause: node?.error });
  return { key, operation: 'UNDEFINED', error };
}
