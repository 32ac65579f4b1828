/**
 * First step of planning: which values will exist. The answer is the largest set in which every value
 * has its dependencies; values that depend on each other in a cycle are all in it or none is. Only
 * what the change can reach is computed: every value that may become available is first taken to be
 * so, with its derived values, then those with unmet dependencies are taken out until nothing changes.
 */

import { DerivedKeyError } from '../api/errors.ts';
import type { Value } from '../api/transaction.ts';
import { leftoverOf } from '../graph/leftovers.ts';
import type { Node, RejectedValue } from '../graph/node.ts';
import { blockedBy } from './blockers.ts';
import { DerivedGoals, type GoalSetter } from './derived-goals.ts';
import { newGoal, rejectedGoal, setAvailable } from './goals.ts';
import type { Attempt, PlanInput, Target } from './input.ts';
import { inspect, isInSync, sameDesired } from './inspection.ts';
import { isMany, PlannedGraph } from './planned-graph.ts';
import { type BlockReason, editable, PlannedValue, UNAVAILABLE } from './planned-value.ts';
import { PrefixOffers } from './prefix-offers.ts';
import type { Reason } from './reason.ts';
import type { Contention, Rejection, Resolution } from './resolution.ts';

const none: readonly never[] = [];

export class Resolver implements Resolution, GoalSetter {
  readonly input: PlanInput;
  readonly graph: PlannedGraph;
  readonly refused: Rejection[] = [];
  readonly contentions: Contention[] = [];
  readonly blocked: PlannedValue[] = [];
  /** Values of descriptors that have claims. */
  readonly claimants = new Set<PlannedValue>();
  readonly #attempt: Attempt;
  readonly #rising: PlannedValue[] = [];
  /** Values whose dependencies have to be checked, and by the index of a value whether it is among them. */
  readonly #unchecked: PlannedValue[] = [];
  readonly #isUnchecked: boolean[] = [];
  /** Values whose derived values have to be compared with their goals. */
  readonly #expanding: PlannedValue[] = [];
  /** Nodes that may not block others any more. */
  readonly #formerBlockers: Node[] = [];
  /** Keys that are not available any more and have many dependents. */
  readonly #lostByMany: string[] = [];
  /** Values that were taken out once: their dependents may have been taken out with them. */
  readonly #lowered = new Set<PlannedValue>();
  readonly #offers: PrefixOffers;
  readonly #derivedGoals = new DerivedGoals(this);

  constructor(input: PlanInput, attempt: Attempt) {
    this.input = input;
    this.graph = new PlannedGraph(input.graph);
    this.#offers = new PrefixOffers(input, this.graph, this.#lowered);
    this.#attempt = attempt;
  }

  /** Adds the values that the plan begins with; `settle` computes the consequences. */
  async start(): Promise<void> {
    const { graph, targets, reconcile, drifted, slices } = this.input;
    const { blocked, reached } = this.#attempt;
    for (const node of blocked.keys()) {
      if (slices.due()) await slices.turn();
      this.#reopen(this.touch(node, { why: 'repair' }));
    }
    await slices.each(targets, (target) => this.#applyTarget(target));
    await slices.each(reconcile, (node) => this.#reconcile(node));
    for (const node of drifted) {
      if (slices.due()) await slices.turn();
      this.#reconcile(node);
    }
    for (const node of drifted.size > 0 ? [...reached, ...graph.blocked] : reached) {
      if (slices.due()) await slices.turn();
      this.touch(node, { why: 'repair' });
    }
  }

  touch(node: Node, reason: Reason): PlannedValue {
    const known = this.graph.values.get(node.key);
    if (known) return known;
    const value = this.#addKnown(node, reason);
    if (node.outOfSync && !value.isBlocked) this.#reopen(value);
    return value;
  }

  isLost({ node, exists }: PlannedValue): boolean {
    return !exists && node !== undefined && this.input.drifted.has(node);
  }

  canRise(value: PlannedValue): boolean {
    return (
      value.goal.value !== undefined &&
      value.phase.state !== 'blocked' &&
      value.isImplemented &&
      (value.baseKey === undefined || this.graph.isAvailable(value.baseKey))
    );
  }

  /** Takes the value to be available; its dependencies are checked later. */
  raise(value: PlannedValue): void {
    setAvailable(value, true);
    this.graph.noteAvailable(value);
    this.#rising.push(value);
    this.#check(value);
  }

  /** Takes the value out, with its derived values. */
  lower(value: PlannedValue): void {
    setAvailable(value, false);
    this.#lowered.add(value);
    this.#expand(value);
    this.#reportLost(value.key);
  }

  /** Takes the value out because the value `by` has the claim. */
  lowerByClaim(value: PlannedValue, claim: string, by: string): void {
    editable(value).phase = {
      state: 'blocked',
      reason: 'claim taken',
      claim,
      by,
      available: false,
    };
    this.lower(value);
  }

  /** The claim that blocked the value is free. */
  unblock(value: PlannedValue): void {
    editable(value).phase = UNAVAILABLE;
  }

  /** Until nothing changes: raises what may be available, takes out what has unmet dependencies. */
  async settle(): Promise<void> {
    const { slices } = this.input;
    for (;;) {
      if (slices.due()) await slices.turn();
      const blocker = this.#formerBlockers.pop();
      if (blocker) {
        for (const node of blockedBy(blocker, this.input.graph))
          this.touch(node, { why: 'repair' });
        continue;
      }
      const lost = this.#lostByMany.pop();
      if (lost !== undefined) {
        for (const one of await this.graph.manyDependents(lost, slices, this.#offers.isKept)) {
          if (slices.due()) await slices.turn();
          this.#lose(one, lost);
        }
        continue;
      }
      const rising = this.#rising.pop();
      if (rising) {
        const following = rising.isAvailable ? this.#follow(rising) : undefined;
        if (following) await following;
        continue;
      }
      // Before dependencies are checked: a cycle may lead through derived values.
      const expanding = this.#expanding.pop();
      if (expanding) {
        if (!expanding.isAvailable) continue;
        for (const _ of this.#derivedGoals.update(expanding)) if (slices.due()) await slices.turn();
        continue;
      }
      const unchecked = this.#unchecked.pop();
      if (!unchecked) return;
      this.#isUnchecked[unchecked.index] = false;
      if (unchecked.isAvailable && !this.#isReady(unchecked)) this.lower(unchecked);
    }
  }

  #addKnown(node: Node, reason: Reason): PlannedValue {
    const { graph, input } = this;
    input.graph.visits++;
    const index = graph.all.length;
    const block = this.#attempt.blocked.get(node) ?? this.#retryBlock(node);
    const leftover = leftoverOf(node);
    const why: Reason = leftover ? { why: 'leftover', what: leftover.what } : reason;
    const value = new PlannedValue(index, node, node, node.base?.key, block, why);
    if (block) this.blocked.push(value);
    this.#isUnchecked.push(false);
    graph.add(value);
    if (node.descriptor?.claims) this.claimants.add(value);
    const mayBlock = input.graph.blocked.size > 0 && input.graph.mayBlockOthers(node);
    if (mayBlock && !value.isBlocked) this.#formerBlockers.push(node);
    const { goal } = value;
    if (node.needsInspection && !value.isBlocked && goal.value !== undefined) {
      const { dependencies, invalid, claims } = inspect(value, goal.value);
      if (invalid) this.#rejectLastValid(value, { value: goal.value, error: invalid });
      else editable(value).goal = { ...goal, dependencies, claims };
      graph.index(value);
    }
    return value;
  }

  #retryBlock(node: Node): BlockReason | undefined {
    const { dueRetries, graph } = this.input;
    if (!dueRetries || !graph.failed.has(node) || node.actual === undefined) return undefined;
    return dueRetries.has(node.root) ? undefined : 'retry not due';
  }

  /**
   * Adds a value that the graph does not have.
   * @param base of a derived value
   * @throws what `Registry.find` throws
   */
  addNew(key: string, base: PlannedValue | undefined, reason: Reason): PlannedValue {
    const { graph, input } = this;
    const subject = { key, descriptor: input.registry.find(key) };
    const index = graph.all.length;
    const value = new PlannedValue(index, subject, undefined, base?.key, undefined, reason);
    this.#isUnchecked.push(false);
    graph.add(value, base);
    if (subject.descriptor?.claims) this.claimants.add(value);
    return value;
  }

  contend(base: PlannedValue, key: string): void {
    this.contentions.push({ key, base: base.key });
  }

  /** Makes the value available if that is possible, with everything that belongs to it. */
  #reopen(value: PlannedValue): void {
    if (this.canRise(value) || (value.isBlocked && value.isAvailable)) this.raise(value);
    else this.lower(value);
  }

  #check(value: PlannedValue): void {
    if (value.baseKey === undefined && value.goal.dependencies.length === 0) return;
    if (this.#isUnchecked[value.index]) return;
    this.#isUnchecked[value.index] = true;
    this.#unchecked.push(value);
  }

  #applyTarget(target: Target): void {
    const { key, value: desired, unmanaged = false } = target;
    const node = this.input.graph.get(key);
    if (node?.base) {
      const error = new DerivedKeyError(`is derived from ${node.base.key}`, { where: key });
      this.refused.push({ key, error });
      return;
    }
    if (desired === null) {
      if (!node || (node.unmanaged && !unmanaged)) return;
      const value = this.touch(node, target.orphan ? { why: 'orphan' } : reasonOf(target));
      editable(value).role = 'target';
      this.dropGoal(value);
      return;
    }
    if (node && isInSync(node, desired, unmanaged)) {
      for (const child of node.derived) if (isBroken(child)) this.#reconcile(child);
      return;
    }
    const value = node
      ? (this.graph.values.get(key) ?? this.#addKnown(node, { why: 'changed' }))
      : this.#addNewTarget(target);
    if (!value) return;
    if (node?.unmanaged && !unmanaged) {
      // An invalid value does not take over what another component has created.
      const { invalid } = inspect(value, desired);
      if (invalid) this.refused.push({ key, error: invalid });
      if (invalid) return;
    }
    editable(value).reason = node?.state === 'MISSING' ? { why: 'missing' } : reasonOf(target);
    editable(value).role = 'target';
    this.setGoal(value, desired, unmanaged, target.metadata);
    const isUnavailable = !value.isBlocked && !value.isAvailable && !this.#lowered.has(value);
    if (node?.outOfSync && isUnavailable) this.lower(value);
  }

  #addNewTarget(target: Target): PlannedValue | undefined {
    const { key } = target;
    try {
      return this.addNew(key, undefined, reasonOf(target));
    } catch (thrown) {
      this.refused.push({ key, error: thrown as Error });
      return undefined;
    }
  }

  #reconcile(node: Node): void {
    const value = this.touch(node, { why: node.state === 'MISSING' ? 'missing' : 'repair' });
    if (value.role === 'target') return;
    editable(value).role = node.base === undefined ? 'reconciled' : 'related';
    this.#reopen(value);
  }

  setGoal(value: PlannedValue, desired: Value, unmanaged: boolean, metadata: unknown): void {
    const known = unmanaged ? undefined : sameDesired(value.node, desired);
    if (value.isBlocked) {
      const { desired: next, rejected } = unmanaged
        ? { desired, rejected: undefined }
        : newGoal(value, known, desired, unmanaged, metadata);
      editable(value).goal = { ...value.goal, unmanaged, metadata, desired: next, rejected };
      if (value.isAvailable) this.raise(value);
      return;
    }
    editable(value).goal = newGoal(value, known, desired, unmanaged, metadata);
    this.graph.index(value);
    if (this.canRise(value)) this.raise(value);
    else if (value.isAvailable || this.isLost(value)) this.lower(value);
  }

  /** The value is not desired any more. */
  dropGoal(value: PlannedValue): void {
    const { goal } = value;
    editable(value).goal = { ...goal, desired: undefined, value: undefined, rejected: undefined };
    if (value.isAvailable || value.exists || this.isLost(value)) this.lower(value);
  }

  #isReady(value: PlannedValue): boolean {
    if (value.baseKey !== undefined && !this.graph.isAvailable(value.baseKey)) return false;
    for (const dependency of value.goal.dependencies)
      if (!this.graph.isMet(value, dependency)) return false;
    return true;
  }

  /**
   * Adds what an available value brings with it: its derived values and its dependents.
   * @returns a promise only if it has many dependents
   */
  #follow(value: PlannedValue): Promise<void> | undefined {
    const { node, key } = value;
    // What existed before the transaction may need its derived values: they are restored with it.
    if (node && this.input.restored?.has(node)) this.#expand(value);
    else if (this.#derivedGoals.mayExist(value)) this.#expanding.push(value);
    const isUnchanged = node?.available && !this.#lowered.has(value);
    if (isUnchanged && !this.input.drifted.has(node)) return undefined;
    const count = this.graph.dependentCount(key, this.#offers.isServed);
    const prospects = this.input.graph.prospectCount(key, this.#offers.isStable);
    if (isMany(count + prospects)) return this.#followMany(key);
    if (count > 0)
      for (const one of this.graph.dependents(key, this.#offers.isServed)) this.#offer(one, key);
    if (prospects > 0)
      for (const one of this.input.graph.prospects(key, this.#offers.isStable))
        this.#offer(one, key);
    if (count > 0) this.#offers.note(key);
    return undefined;
  }

  async #followMany(key: string): Promise<void> {
    const { slices } = this.input;
    const dependents = await this.graph.manyDependents(key, slices, this.#offers.isServed);
    await slices.each(dependents, (one) => this.#offer(one, key));
    const prospects = this.input.graph.prospects(key, this.#offers.isStable);
    await slices.each(prospects, (one) => this.#offer(one, key));
    this.#offers.note(key);
  }

  /**
   * Raises a dependent of an available key, if that is possible. A derived value can only be raised with
   * its base, which may be pending because of a cycle that leads through that derived value.
   */
  #offer(one: Node | PlannedValue, key: string): void {
    const reason: Reason = { why: 'dependency met', key };
    const dependent = one instanceof PlannedValue ? one : this.touch(one, reason);
    const { baseKey } = dependent;
    const base = baseKey === undefined ? undefined : this.graph.values.get(baseKey);
    if (base && !base.isAvailable) {
      this.#offer(base, key);
      return;
    }
    if (dependent.isAvailable || !this.canRise(dependent)) return;
    if (dependent.role !== 'target') editable(dependent).reason = reason;
    this.raise(dependent);
  }

  #reportLost(key: string): void {
    this.#offers.forget(key);
    const count = this.graph.dependentCount(key, this.#offers.isKept);
    if (isMany(count)) this.#lostByMany.push(key);
    else if (count > 0)
      for (const one of this.graph.dependents(key, this.#offers.isKept)) this.#lose(one, key);
  }

  /** Has a dependent checked, because the key is not available. */
  #lose(one: Node | PlannedValue, key: string): void {
    let dependent: PlannedValue;
    if (one instanceof PlannedValue) dependent = one;
    else if (one.actual === undefined && !this.graph.values.has(one.key)) return;
    else dependent = this.touch(one, { why: 'dependency lost', key });
    if (dependent.isAvailable) this.#check(dependent);
  }

  /** Nothing can be derived from the goal. @returns whether the last valid value is the goal now */
  rejectGoal(value: PlannedValue, rejected: RejectedValue): boolean {
    const next = rejectedGoal(value, rejected);
    if (next.value === undefined || next.value === value.goal.value) {
      this.#rejectLastValid(value, rejected);
      this.graph.index(value);
      setAvailable(value, false);
      this.#reportLost(value.key);
      return false;
    }
    editable(value).goal = next;
    this.graph.index(value);
    this.#check(value);
    return true;
  }

  /** Updates the goals of the derived values. */
  #expand(value: PlannedValue): void {
    if (this.#derivedGoals.mayExist(value)) for (const _ of this.#derivedGoals.update(value));
  }

  /** The desired value itself turns out to be invalid. */
  #rejectLastValid(value: PlannedValue, rejected: RejectedValue): void {
    const nothing = { desired: undefined, value: undefined, dependencies: none, claims: undefined };
    editable(value).goal = { ...value.goal, ...nothing, rejected };
  }
}

function reasonOf({ unmanaged }: Target): Reason {
  return { why: unmanaged ? 'notified' : 'changed' };
}

/** An operation on it is due again. */
function isBroken({ state }: Node): boolean {
  return state === 'FAILED' || state === 'RETRYING' || state === 'MISSING';
}
