/**
 * First step of planning: which values will exist. The answer is the largest set in which every value
 * has its dependencies; values that depend on each other in a cycle are all in it or none is. Only
 * what the change can reach is computed: every value that may become available is first taken to be
 * so, with its derived values, then those with unmet dependencies are taken out until nothing changes.
 */

import { errorText } from '#infra/errors/errors.ts';
import type { Dependency, KeyedValue } from '../api/descriptor.ts';
import { DerivedKeyError, DescriptorContractError } from '../api/errors.ts';
import type { Value } from '../api/transaction.ts';
import type { Node, RejectedValue } from '../graph/graph.ts';
import { newGoal, rejectedGoal, setAvailable } from './goals.ts';
import type { Attempt, PlanInput, Target } from './input.ts';
import { inspect, isInSync, sameDesired } from './inspection.ts';
import { isMany, matches, PlannedGraph } from './planned-graph.ts';
import { editable, PlannedValue, UNAVAILABLE } from './planned-value.ts';
import type { Reason } from './reason.ts';

const none: readonly never[] = [];

export interface Rejection {
  readonly key: string;
  readonly error: Error;
}

/** Result of the step; the later steps read it. */
export interface Resolution {
  readonly input: PlanInput;
  /** The values of the plan and their relations. */
  readonly graph: PlannedGraph;
  /** Targets that were rejected. */
  readonly refused: readonly Rejection[];
  /** The planned value of a node; it is added to the plan if it was not reached yet. */
  touch(node: Node, reason: Reason): PlannedValue;
  /** Whether the southbound lost the value: its dependents may be lost, too, or still exist. */
  isLost(value: PlannedValue): boolean;
}

export class Resolver implements Resolution {
  readonly input: PlanInput;
  readonly graph: PlannedGraph;
  readonly refused: Rejection[] = [];
  /** Values of descriptors that have claims. */
  readonly claimants = new Set<PlannedValue>();
  readonly #attempt: Attempt;
  readonly #rising: PlannedValue[] = [];
  /** Values whose dependencies have to be checked; the set is the membership of the stack. */
  readonly #unchecked: PlannedValue[] = [];
  readonly #isUnchecked = new Set<PlannedValue>();
  /** Values whose derived values have to be compared with their goals. */
  readonly #expanding: PlannedValue[] = [];
  /** Nodes that may not block others any more. */
  readonly #formerBlockers: Node[] = [];
  /** Keys that are not available any more and have many dependents. */
  readonly #lostByMany: string[] = [];
  /** Values that were taken out once: their dependents may have been taken out with them. */
  readonly #lowered = new Set<PlannedValue>();
  /** The values that a descriptor derived, and the goal that it derived them from. */
  readonly #derivations = new Map<
    PlannedValue,
    { readonly from: Value; readonly derived: readonly KeyedValue[] }
  >();

  constructor(input: PlanInput, attempt: Attempt) {
    this.input = input;
    this.graph = new PlannedGraph(input.graph);
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
    for (const target of targets) {
      if (slices.due()) await slices.turn();
      this.#applyTarget(target);
    }
    for (const node of reconcile) {
      if (slices.due()) await slices.turn();
      this.#reconcile(node);
    }
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
        for (const node of this.#blockedBy(blocker)) this.touch(node, { why: 'repair' });
        continue;
      }
      const lost = this.#lostByMany.pop();
      if (lost !== undefined) {
        for (const one of await this.graph.manyDependents(lost, slices)) {
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
        for (const _ of this.#expansion(expanding)) if (slices.due()) await slices.turn();
        continue;
      }
      const unchecked = this.#unchecked.pop();
      if (!unchecked) return;
      this.#isUnchecked.delete(unchecked);
      if (unchecked.isAvailable && !this.#isReady(unchecked)) this.lower(unchecked);
    }
  }

  #addKnown(node: Node, reason: Reason): PlannedValue {
    const { graph, input } = this;
    input.graph.visits++;
    const index = graph.values.size;
    const block = this.#attempt.blocked.get(node);
    const value = new PlannedValue(index, node, node, node.base?.key, block, reason);
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

  /** @param base of a derived value */
  #addNew(key: string, base: PlannedValue | undefined, reason: Reason): PlannedValue {
    const { graph, input } = this;
    const subject = { key, descriptor: input.registry.find(key) };
    const index = graph.values.size;
    const value = new PlannedValue(index, subject, undefined, base?.key, undefined, reason);
    graph.add(value, base);
    if (subject.descriptor?.claims) this.claimants.add(value);
    return value;
  }

  /** Makes the value available if that is possible, with everything that belongs to it. */
  #reopen(value: PlannedValue): void {
    if (this.canRise(value) || (value.isBlocked && value.isAvailable)) this.raise(value);
    else this.lower(value);
  }

  #check(value: PlannedValue): void {
    if (value.baseKey === undefined && value.goal.dependencies.length === 0) return;
    if (this.#isUnchecked.has(value)) return;
    this.#isUnchecked.add(value);
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
      this.#dropGoal(value);
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
    this.#setGoal(value, desired, unmanaged, target.metadata);
    const isUnavailable = !value.isBlocked && !value.isAvailable && !this.#lowered.has(value);
    if (node?.outOfSync && isUnavailable) this.lower(value);
  }

  #addNewTarget(target: Target): PlannedValue | undefined {
    const { key } = target;
    try {
      return this.#addNew(key, undefined, reasonOf(target));
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

  #setGoal(value: PlannedValue, desired: Value, unmanaged: boolean, metadata: unknown): void {
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
  #dropGoal(value: PlannedValue): void {
    const { goal } = value;
    editable(value).goal = { ...goal, desired: undefined, value: undefined, rejected: undefined };
    if (value.isAvailable || value.exists || this.isLost(value)) this.lower(value);
  }

  /** Nodes that the given one may have blocked: its base and its dependencies. */
  *#blockedBy({ base, actualDependencies }: Node): Generator<Node, void, void> {
    const { graph } = this.input;
    if (base && graph.blocked.has(base)) yield base;
    for (const dependency of actualDependencies) {
      const node = dependency.key === undefined ? undefined : graph.get(dependency.key);
      if (node && graph.blocked.has(node)) yield node;
      if (dependency.anyOf)
        for (const one of graph.blocked) if (matches(dependency, one.key)) yield one;
    }
  }

  #isReady(value: PlannedValue): boolean {
    if (value.baseKey !== undefined && !this.graph.isAvailable(value.baseKey)) return false;
    return value.goal.dependencies.every((dependency) => this.graph.isMet(value, dependency));
  }

  /**
   * Adds what an available value brings with it: its derived values and its dependents.
   * @returns a promise only if it has many dependents
   */
  #follow(value: PlannedValue): Promise<void> | undefined {
    const { node, key } = value;
    // What existed before the transaction may need its derived values: they are restored with it.
    if (node && this.input.restored?.has(node)) this.#expand(value);
    else if (this.#mayDerive(value)) this.#expanding.push(value);
    const isUnchanged = node?.available && !this.#lowered.has(value);
    if (isUnchanged && !this.input.drifted.has(node)) return undefined;
    const count = this.graph.dependentCount(key);
    const prospects = this.input.graph.prospectCount(key);
    if (isMany(count + prospects)) return this.#followMany(key);
    if (count > 0) for (const one of this.graph.dependents(key)) this.#offer(one, key);
    if (prospects > 0) for (const one of this.input.graph.prospects(key)) this.#offer(one, key);
    return undefined;
  }

  async #followMany(key: string): Promise<void> {
    const { slices } = this.input;
    for (const one of await this.graph.manyDependents(key, slices)) {
      if (slices.due()) await slices.turn();
      this.#offer(one, key);
    }
    for (const one of this.input.graph.prospects(key)) {
      if (slices.due()) await slices.turn();
      this.#offer(one, key);
    }
  }

  /**
   * Raises a dependent of an available key, if that is possible. A derived value can only be raised with
   * its base, which may be pending because of a cycle that leads through that derived value.
   */
  #offer(one: Node | PlannedValue, key: string): void {
    const reason: Reason = { why: 'dependency met', key };
    const dependent = one instanceof PlannedValue ? one : this.touch(one, reason);
    const base = this.graph.values.get(dependent.baseKey ?? '');
    if (base && !base.isAvailable) {
      this.#offer(base, key);
      return;
    }
    if (dependent.isAvailable || !this.canRise(dependent)) return;
    if (dependent.role !== 'target') editable(dependent).reason = reason;
    this.raise(dependent);
  }

  #reportLost(key: string): void {
    const count = this.graph.dependentCount(key);
    if (isMany(count)) this.#lostByMany.push(key);
    else if (count > 0) for (const one of this.graph.dependents(key)) this.#lose(one, key);
  }

  /** Has a dependent checked, because the key is not available. */
  #lose(one: Node | PlannedValue, key: string): void {
    let dependent: PlannedValue;
    if (one instanceof PlannedValue) dependent = one;
    else if (one.actual === undefined && !this.graph.values.has(one.key)) return;
    else dependent = this.touch(one, { why: 'dependency lost', key });
    if (dependent.isAvailable) this.#check(dependent);
  }

  /** Updates the goals of the derived values. */
  #expand(value: PlannedValue): void {
    if (this.#mayDerive(value)) for (const _ of this.#expansion(value));
  }

  /** `expand` in steps. */
  *#expansion(value: PlannedValue): Generator<void, void, void> {
    if (!value.isAvailable) this.#keepDependencies(value);
    const keep = new Set<string>();
    for (const derived of this.#derive(value)) {
      if (keep.has(derived.key)) continue;
      yield;
      if (this.#setDerivedGoal(value, derived.key, derived.value)) keep.add(derived.key);
    }
    for (const child of this.graph.newDerived(value))
      if (!keep.has(child.key)) this.#dropGoal(child);
    for (const node of value.node?.derived ?? none) {
      yield;
      if (keep.has(node.key)) continue;
      const child = this.touch(node, { why: 'derived', from: value.key });
      // A derived value is unmanaged exactly if its base is.
      const { unmanaged } = value.goal;
      if (child.goal.unmanaged !== unmanaged) editable(child).goal = { ...child.goal, unmanaged };
      const { value: goal, desired, rejected } = child.goal;
      if ((goal ?? desired ?? rejected) !== undefined || child.isAvailable) this.#dropGoal(child);
    }
  }

  /** The derived values will be forgotten: keeps the dependencies that they had. */
  #keepDependencies(value: PlannedValue): void {
    const kept: Dependency[] = [];
    for (const { goal } of this.graph.newDerived(value))
      if (goal.value !== undefined) kept.push(...goal.dependencies);
    for (const { key, desired, desiredDependencies } of value.node?.derived ?? none) {
      const goal = this.graph.values.get(key)?.goal;
      if ((goal ? goal.value : desired) !== undefined)
        kept.push(...(goal?.dependencies ?? desiredDependencies));
    }
    if (kept.length > 0) editable(value).derivedDependencies = kept;
  }

  #derive(value: PlannedValue): readonly KeyedValue[] {
    const { key, descriptor, goal } = value;
    if (!value.isAvailable || goal.value === undefined || !descriptor?.derived) return none;
    // Derived values derive nothing themselves.
    if (value.baseKey !== undefined) return none;
    const known = this.#derivations.get(value);
    if (known?.from === goal.value) return known.derived;
    try {
      const derived = descriptor.derived(key, goal.value);
      this.#derivations.set(value, { from: goal.value, derived });
      return derived;
    } catch (cause) {
      this.input.log.error({ key, error: errorText(cause) }, 'descriptor cannot derive values');
      if (goal.unmanaged) return none;
      const error = new DescriptorContractError(errorText(cause), { where: key, cause });
      return this.#rejectGoal(value, { value: goal.value, error });
    }
  }

  /** Nothing can be derived from the goal. @returns the derived values of the last valid value */
  #rejectGoal(value: PlannedValue, rejected: RejectedValue): readonly KeyedValue[] {
    const next = rejectedGoal(value, rejected);
    if (next.value === undefined || next.value === value.goal.value) {
      this.#rejectLastValid(value, rejected);
      this.graph.index(value);
      setAvailable(value, false);
      this.#reportLost(value.key);
      return none;
    }
    editable(value).goal = next;
    this.graph.index(value);
    this.#check(value);
    return this.#derive(value);
  }

  /** The desired value itself turns out to be invalid. */
  #rejectLastValid(value: PlannedValue, rejected: RejectedValue): void {
    const nothing = { desired: undefined, value: undefined, dependencies: none, claims: undefined };
    editable(value).goal = { ...value.goal, ...nothing, rejected };
  }

  /** @returns false when the derived value is ignored */
  #setDerivedGoal(base: PlannedValue, key: string, derived: Value | undefined): boolean {
    const node = this.input.graph.get(key);
    const known = this.graph.values.get(key);
    const isTaken = known ? known.baseKey !== base.key : node && node.base?.key !== base.key;
    if (derived === undefined || derived === null || isTaken) {
      const { log } = this.input;
      log.warn(
        { key, from: base.key },
        'ignoring a derived value: it is empty or its key belongs to another value',
      );
      return false;
    }
    const { unmanaged } = base.goal;
    if (node && !known && !base.isBlocked && isInSync(node, derived, unmanaged)) return true;
    const child = known ?? this.#addDerived(base, key, node);
    if (!child) return false;
    this.#setGoal(child, derived, unmanaged, child.goal.metadata);
    return true;
  }

  #addDerived(base: PlannedValue, key: string, node: Node | undefined): PlannedValue | undefined {
    const reason: Reason = { why: 'derived', from: base.key };
    if (node) return this.touch(node, reason);
    try {
      return this.#addNew(key, base, reason);
    } catch (thrown) {
      this.input.log.error({ key, error: errorText(thrown) }, 'ignoring a derived value');
      return undefined;
    }
  }

  /** Whether the value has derived values, or its descriptor may name some. */
  #mayDerive(value: PlannedValue): boolean {
    if (this.graph.derivedCount(value) > 0) return true;
    return value.baseKey === undefined && value.descriptor?.derived !== undefined;
  }
}

function reasonOf({ unmanaged }: Target): Reason {
  return { why: unmanaged ? 'notified' : 'changed' };
}

/** An operation on it is due again. */
function isBroken({ state }: Node): boolean {
  return state === 'FAILED' || state === 'RETRYING' || state === 'MISSING';
}
