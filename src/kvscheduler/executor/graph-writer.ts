/**
 * The only module that changes nodes of the graph: it applies the desired state of a plan, the results
 * of operations, values that were read from the southbound, notifications, and undo.
 */

import type { Slices } from '#infra/clock/slices.ts';
import { errorText, traitsOf } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { AnyDescriptor, Dependency, KeyedValue, RetrievedValue } from '../api/descriptor.ts';
import type { RetryPolicy, Value } from '../api/transaction.ts';
import type { ValueState } from '../api/value-state.ts';
import { byKey } from '../graph/by-key.ts';
import type { Registry } from '../graph/descriptor-registry.ts';
import { deepEqual } from '../graph/equality.ts';
import type { Graph, WritableGraph } from '../graph/graph.ts';
import { isUnknown, type Node, type RejectedValue, writable } from '../graph/node.ts';
import type { PlannedOperation } from '../planner/operation.ts';
import type { PlannedValue } from '../planner/planned-value.ts';
import type { Plan } from '../planner/planner.ts';
import { isEquivalent } from './found-value.ts';

const none: readonly never[] = [];

/**
 * How often a transaction plans a base value again because keys that it derives became free. Once is not always
 * enough: a value that turns out to be pending can take such a key in a plan and leave it free again. The limit
 * makes sure that the transaction ends; the next one continues.
 */
const MAX_PLANS_OF_CONTENDER = 5;

/** The transaction that a plan belongs to. */
export interface PlanOrigin {
  readonly seqNum: number;
  /** Set when the northbound sets values: its retry policy applies to them from now on. */
  readonly fromNorth: boolean;
  readonly retry: RetryPolicy | undefined;
  /** Whether a failure of this base value is going to be retried if its descriptor agrees. */
  readonly mayRetry: (base: Node) => boolean;
}

export interface GraphWriterOptions {
  readonly graph: WritableGraph;
  readonly registry: Registry;
  readonly log: Logger;
  readonly slices: Slices;
}

export class GraphWriter {
  readonly #graph: WritableGraph;
  readonly #registry: Registry;
  readonly #log: Logger;
  readonly #slices: Slices;
  /** The southbound at the last whole read-back of a descriptor. */
  readonly #incarnations = new Map<AnyDescriptor, unknown>();

  constructor({ graph, registry, log, slices }: GraphWriterOptions) {
    this.#graph = graph;
    this.#registry = registry;
    this.#log = log;
    this.#slices = slices;
  }

  get graph(): Graph {
    return this.#graph;
  }

  /**
   * Records the desired state of the plan; actual values do not change.
   * @param backup keeps what is overwritten
   */
  async applyPlan(
    plan: Plan,
    origin: PlanOrigin,
    backup: DesiredStateBackup | undefined,
  ): Promise<AppliedPlan> {
    const nodes: (Node | undefined)[] = [];
    await this.#slices.each(plan.values, (value) => {
      const node = value.node ?? this.#addPlanned(value);
      nodes.push(node);
      if (!node) return;
      backup?.keep(node);
      this.#applyDesired(node, value, origin);
    });
    for (const node of plan.blockedByOthers) this.#graph.blocked.add(node);
    // The value that had the key in the plan may have been dropped later in the same plan.
    for (const { key, base } of plan.contentions)
      this.#graph.contended.add(key, base, this.#graph.get(key) === undefined);
    return new AppliedPlan(this.#graph, nodes, origin);
  }

  #addPlanned({ key, descriptor, baseKey, goal }: PlannedValue): Node | undefined {
    if (goal.value === undefined && !goal.rejected) return undefined;
    const base = baseKey === undefined ? undefined : this.#graph.get(baseKey);
    return this.#graph.add(key, descriptor, base);
  }

  #applyDesired(node: Node, value: PlannedValue, { seqNum, fromNorth, retry }: PlanOrigin): void {
    const { goal, phase, role, decision } = value;
    const { desired, unmanaged, dependencies } = goal;
    const graph = this.#graph;
    // It is taken over now, even if a failure keeps its operation from being executed.
    if (node.unmanaged && !unmanaged) writable(node).state = 'CONFIGURED';
    writable(node).toBeRemoved = !value.isAvailable;
    if (decision.action === 'recreate' && decision.lost !== undefined)
      writable(node).lostDependency = decision.lost;
    if (value.isBlocked) {
      if (node.desired !== desired) {
        graph.setDesired(node, desired, none);
        writable(node).needsInspection = true;
      }
      if (goal.rejected && node.state === 'CONFIGURED') this.#setInvalid(node, goal.rejected);
    } else {
      const hasNone = unmanaged || desired === undefined;
      graph.setDesired(node, desired, hasNone ? none : dependencies);
      const isOpen = !hasNone && !value.isAvailable;
      graph.setDerivedDependencies(node, isOpen ? value.derivedDependencies : none);
      writable(node).needsInspection = false;
    }
    writable(node).rejected = goal.rejected;
    if (phase.state === 'blocked' && phase.reason === 'claim taken')
      graph.setAwaitedClaims(node, [phase.claim]);
    if (!fromNorth || role === 'related') return;
    writable(node).seqNum = seqNum;
    writable(node).retry = retry;
  }

  /** Its last valid value stays, without an operation. */
  #setInvalid(node: Node, { error }: RejectedValue): void {
    writable(node).state = 'INVALID';
    writable(node).error = error;
    this.#graph.rejected.add(node);
  }

  /** Restores the desired state of before a transaction. @returns the nodes that it changes */
  async restore(backup: DesiredStateBackup): Promise<Node[]> {
    const nodes: Node[] = [];
    for (const { node, desired, found, rejected, seqNum, retry, ...kept } of backup.latestFirst()) {
      if (this.#slices.due()) await this.#slices.turn();
      this.#graph.setDesired(node, desired ?? found, kept.desiredDependencies);
      this.#graph.setDerivedDependencies(node, kept.derivedDependencies);
      const changed = writable(node);
      changed.rejected = rejected;
      changed.toBeRemoved = false;
      changed.seqNum = seqNum;
      // An undo that fails is retried by the policy of the transaction if the value has none.
      changed.retry = retry ?? node.retry;
      nodes.push(node);
    }
    return nodes;
  }

  /** Gives up what an undone transaction had taken over, if it can be known: it was unmanaged before. */
  async release(backup: DesiredStateBackup): Promise<void> {
    for (const { node, found } of backup.latestFirst()) {
      if (this.#slices.due()) await this.#slices.turn();
      if (found === undefined || node.outcomeUnknown) continue;
      const { actual } = node;
      this.#graph.setDesired(node, undefined, none);
      this.#graph.setNotFailed(node);
      this.#graph.blocked.delete(node);
      if (actual !== undefined) this.#graph.setActual(node, actual, none);
      const changed = writable(node);
      changed.state = actual === undefined ? 'REMOVED' : 'OBTAINED';
      changed.error = undefined;
      changed.lastOperation = undefined;
      changed.toBeRemoved = false;
    }
  }

  /** Removes those nodes that have neither a desired nor an actual value. */
  async removeUnused(nodes: readonly Node[]): Promise<void> {
    const bases: Node[] = [];
    await this.#slices.each(nodes, (node) => {
      if (isUsed(node) || this.#graph.get(node.key) !== node) return;
      // Derived values are removed before their base.
      if (node.base) this.#graph.remove(node);
      else bases.push(node);
    });
    await this.#slices.each(bases, (node) => {
      if (node.derived.size === 0) this.#graph.remove(node);
    });
  }

  /**
   * @param served how often the transaction has planned a base again; grows
   * @returns base values that derive a key that another value had and that is free now
   */
  takeContenders(served: Map<Node, number>): Node[] {
    const { contended } = this.#graph;
    const bases = new Set<Node>();
    for (const key of contended.free) {
      if (this.#graph.get(key)) {
        contended.setTaken(key);
        continue;
      }
      for (const one of contended.basesOf(key)) {
        const base = this.#graph.get(one);
        if (base && (served.get(base) ?? 0) >= MAX_PLANS_OF_CONTENDER) continue;
        // A base that is not available derives its values when it becomes so.
        if (base?.available) bases.add(base);
        contended.delete(key, one);
      }
    }
    for (const base of bases) served.set(base, (served.get(base) ?? 0) + 1);
    return [...bases].sort(byKey);
  }

  /** Notes that the transaction may have changed the node. @returns false if that was noted already */
  setTouched(node: Node, seqNum: number): boolean {
    if (node.touchedBy === seqNum) return false;
    writable(node).touchedBy = seqNum;
    return true;
  }

  /** Notes that the transaction found the node to differ from what was known. */
  setLastTransaction(node: Node, seqNum: number): void {
    writable(node).lastTxn = seqNum;
  }

  /** @param isRetried whether a timer will retry the operation that failed */
  setFailed(node: Node, isRetried: boolean): void {
    writable(node).state = isRetried ? 'RETRYING' : 'FAILED';
  }

  /** All values of the descriptor were read. */
  setIncarnation(descriptor: AnyDescriptor, incarnation: unknown): void {
    if (descriptor.incarnation) this.#incarnations.set(descriptor, incarnation);
  }

  /** Whether the southbound is still the one of which the values of the descriptor are known. */
  isOfIncarnation(descriptor: AnyDescriptor, incarnation: unknown): boolean {
    return !descriptor.incarnation || this.#incarnations.get(descriptor) === incarnation;
  }

  /** Whether the southbound has changed since all values of the descriptor were read. */
  hasOtherIncarnation(descriptor: AnyDescriptor): boolean {
    return (
      this.#incarnations.has(descriptor) &&
      this.#incarnations.get(descriptor) !== descriptor.incarnation?.()
    );
  }

  /** A notification brings other metadata for the same value. */
  setMetadata(node: Node, metadata: unknown): void {
    this.#graph.setMetadata(node, metadata);
  }

  /**
   * A value was read from the southbound.
   * @param isDesired whether the resync that reads it names its key
   * @param drifted gets the nodes whose actual value differs from what was known
   */
  applyFound(
    descriptor: AnyDescriptor,
    { key, value, metadata, origin, broken, derived }: RetrievedValue,
    isDesired: boolean,
    drifted: Set<Node>,
  ): void {
    const node = this.#graph.get(key) ?? this.#graph.add(key, descriptor, undefined);
    const isNew = isUnknown(node);
    if (node.desired === undefined && (isNew || node.state === 'OBTAINED')) {
      const isManaged = origin === 'from-NB' || (origin !== 'from-SB' && isNew && isDesired);
      writable(node).state = isManaged ? 'DISCOVERED' : 'OBTAINED';
      if (!isManaged) writable(node).rejected = undefined;
      this.#graph.rejected.delete(node);
    } else markFound(node);
    this.#settleOutcome(node);
    const childrenDrifted = this.#applyFoundDerived(node, { value, derived }, drifted);
    if (node.actual === undefined || !isEquivalent(node, node.actual, value) || childrenDrifted) {
      if (node.actual === undefined || !deepEqual(node.actual, value))
        this.#graph.setActual(node, value, dependenciesOf(node, value));
      drifted.add(node);
    }
    writable(node).broken = node.unmanaged ? undefined : broken;
    if (node.broken !== undefined) drifted.add(node);
    if (!deepEqual(node.metadata, metadata)) this.#graph.setMetadata(node, metadata);
  }

  /** A value was not found in the southbound, nor anything that is derived from it. */
  applyLost(node: Node, drifted: Set<Node>): void {
    this.#applyLostOne(node, drifted);
    for (const child of node.derived) this.#applyLostOne(child, drifted);
    this.#graph.setOutcomeKnown(node);
  }

  #applyLostOne(node: Node, drifted: Set<Node>): void {
    this.#graph.setOutcomeKnown(node);
    if (node.actual === undefined) return;
    this.#graph.setActual(node, undefined, none);
    drifted.add(node);
    if (node.desired === undefined) return;
    if (node.state === 'CONFIGURED' || node.state === 'DISCOVERED')
      writable(node).state = 'MISSING';
  }

  /** A value that was read back has the dependencies of what it is, not of what it may have been. */
  #settleOutcome(node: Node): void {
    if (!node.outcomeUnknown) return;
    const { actual } = node;
    this.#graph.setOutcomeKnown(node);
    if (actual !== undefined) this.#graph.setActual(node, actual, dependenciesOf(node, actual));
  }

  /** The derived values of a found value exist. @returns whether that differs from what was known */
  #applyFoundDerived(
    node: Node,
    { value, derived }: Pick<RetrievedValue, 'value' | 'derived'>,
    drifted: Set<Node>,
  ): boolean {
    if (!node.descriptor?.derived) return false;
    const graph = this.#graph;
    const before = drifted.size;
    const found = new Set<string>();
    for (const { key, value: own } of derived ?? deriveOf(node, value, this.#log)) {
      const known = graph.get(key);
      if (own === undefined || own === null || (known && known.base !== node)) continue;
      // As in plans, the first of two values with one key counts.
      if (found.has(key)) continue;
      const child = known ?? graph.add(key, this.#registry.tryFind(key), node);
      found.add(key);
      if (isUnknown(child)) writable(child).state = node.unmanaged ? 'OBTAINED' : 'DISCOVERED';
      else markFound(child);
      this.#settleOutcome(child);
      if (child.actual !== undefined && isEquivalent(child, child.actual, own)) continue;
      graph.setActual(child, own, dependenciesOf(child, own));
      drifted.add(child);
    }
    for (const child of node.derived) if (!found.has(child.key)) this.#applyLostOne(child, drifted);
    return drifted.size > before;
  }
}

/** A plan whose desired state is in the graph: applies the results of its operations. */
export class AppliedPlan {
  readonly #graph: WritableGraph;
  /** By the index of the value. */
  readonly #nodes: readonly (Node | undefined)[];
  readonly #origin: PlanOrigin;

  constructor(graph: WritableGraph, nodes: readonly (Node | undefined)[], origin: PlanOrigin) {
    this.#graph = graph;
    this.#nodes = nodes;
    this.#origin = origin;
  }

  /** The node of a value that has an operation. */
  nodeOf({ index }: PlannedValue): Node {
    return this.#nodes[index] as Node;
  }

  /** The nodes of all values of the plan. */
  get nodes(): readonly (Node | undefined)[] {
    return this.#nodes;
  }

  applySuccess(operation: PlannedOperation, metadata: unknown): void {
    const { value, stateAfter, noop } = operation;
    const { goal, role } = value;
    const node = this.nodeOf(value);
    const graph = this.#graph;
    if (operation.operation === 'DELETE') {
      if (!noop) graph.setActual(node, undefined, none);
    } else if (!noop || value.exists) {
      const dependencies = goal.unmanaged ? none : goal.dependencies;
      graph.setActual(node, goal.value, dependencies, value.claims);
      // An unmanaged value keeps the metadata with which it was found.
      if (goal.unmanaged) {
        if (role === 'target') graph.setMetadata(node, goal.metadata);
      } else if (operation.call) graph.setMetadata(node, metadata);
    }
    const changed = writable(node);
    if (!operation.silent || node.state === 'DISCOVERED') {
      changed.lastOperation = operation.operation;
      changed.lastTxn = this.#origin.seqNum;
    }
    if (goal.unmanaged) changed.lastOperation = undefined;
    graph.setNotFailed(node);
    graph.blocked.delete(node);
    changed.state = stateAfter;
    if (stateAfter === 'INVALID' || stateAfter === 'UNIMPLEMENTED') graph.rejected.add(node);
    else graph.rejected.delete(node);
    changed.error = operation.errorAfter;
  }

  applyFailure(operation: PlannedOperation, error: Error): void {
    const { value } = operation;
    const node = this.nodeOf(value);
    const graph = this.#graph;
    graph.setFailed(node);
    graph.rejected.delete(node);
    const changed = writable(node);
    changed.error = error;
    changed.lastOperation = operation.operation;
    changed.lastTxn = this.#origin.seqNum;
    changed.state = this.#stateAfter(node, error);
    if (traitsOf(error).outcome !== 'unknown' || !node.root.descriptor?.retrieve) return;
    // Until it is read back it counts as existing, with its old and its new dependencies: neither may
    // be removed.
    const possible = operation.after ?? operation.before;
    if (possible === undefined) return;
    const dependencies = [...node.actualDependencies, ...value.goal.dependencies];
    graph.setActual(node, node.actual ?? possible, dependencies);
    graph.setOutcomeUnknown(node, possible);
  }

  #stateAfter(node: Node, error: Error): ValueState {
    if (traitsOf(error).isRetriable === false) return 'FAILED';
    const isRetriable = node.descriptor?.isRetriable?.(error) ?? true;
    return isRetriable && this.#origin.mayRetry(node.root) ? 'RETRYING' : 'FAILED';
  }
}

interface Backup
  extends Pick<
    Node,
    'desired' | 'desiredDependencies' | 'derivedDependencies' | 'rejected' | 'seqNum' | 'retry'
  > {
  readonly node: Node;
  /** The value, if it was unmanaged. */
  readonly found: Value | undefined;
}

/** The desired state of before a transaction that may be undone. */
export class DesiredStateBackup {
  /** Nodes that were available. */
  readonly available = new Set<Node>();
  readonly #backups: Backup[] = [];

  keep(node: Node): void {
    const { desired, desiredDependencies, derivedDependencies, rejected, seqNum, retry } = node;
    if (node.available) this.available.add(node);
    const relations = { desiredDependencies, derivedDependencies };
    const found = node.unmanaged ? node.actual : undefined;
    this.#backups.push({ node, desired, found, ...relations, rejected, seqNum, retry });
  }

  latestFirst(): readonly Backup[] {
    return this.#backups.toReversed();
  }
}

function isUsed({ desired, actual, rejected, outcomeUnknown }: Node): boolean {
  return (desired ?? actual ?? rejected) !== undefined || outcomeUnknown;
}

function markFound(node: Node): void {
  if (node.state === 'PENDING' || node.state === 'MISSING') writable(node).state = 'CONFIGURED';
}

function dependenciesOf(node: Node, value: Value): readonly Dependency[] {
  if (node.unmanaged) return none;
  try {
    return node.descriptor?.dependencies?.(node.key, value) ?? none;
  } catch {
    return none;
  }
}

function deriveOf(node: Node, value: Value, log: Logger): readonly KeyedValue[] {
  try {
    return node.descriptor?.derived?.(node.key, value) ?? none;
  } catch (thrown) {
    log.error({ key: node.key, error: errorText(thrown) }, 'descriptor cannot derive values');
    return none;
  }
}
