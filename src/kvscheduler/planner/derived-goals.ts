/** Goals of derived values: they follow from the goal of their base, and are dropped with it. */

import { errorText } from '#infra/errors/errors.ts';
import type { Dependency, KeyedValue } from '../api/descriptor.ts';
import { DescriptorContractError } from '../api/errors.ts';
import type { Value } from '../api/transaction.ts';
import type { Node, RejectedValue } from '../graph/node.ts';
import type { PlanInput } from './input.ts';
import { isInSync } from './inspection.ts';
import type { PlannedGraph } from './planned-graph.ts';
import { editable, type PlannedValue } from './planned-value.ts';
import type { Reason } from './reason.ts';

const none: readonly never[] = [];

/** The owner of all goals: sets them with the consequences for other values. */
export interface GoalSetter {
  readonly input: PlanInput;
  readonly graph: PlannedGraph;
  /** The planned value of a node. */
  touch(node: Node, reason: Reason): PlannedValue;
  /** The base derives a value whose key another value has. */
  contend(base: PlannedValue, key: string): void;
  /** Throws when the key has more than one owner. */
  addNew(key: string, base: PlannedValue, reason: Reason): PlannedValue;
  setGoal(value: PlannedValue, desired: Value, unmanaged: boolean, metadata: unknown): void;
  dropGoal(value: PlannedValue): void;
  /** @returns whether another value is the goal now */
  rejectGoal(value: PlannedValue, rejected: RejectedValue): boolean;
}

export class DerivedGoals {
  readonly #setter: GoalSetter;
  /** The values that a descriptor derived, and the goal that it derived them from. */
  readonly #derivations = new Map<
    PlannedValue,
    { readonly from: Value; readonly derived: readonly KeyedValue[] }
  >();

  constructor(setter: GoalSetter) {
    this.#setter = setter;
  }

  /** Whether the value has derived values, or its descriptor may name some. */
  mayExist(base: PlannedValue): boolean {
    if (this.#setter.graph.derivedCount(base) > 0) return true;
    return base.baseKey === undefined && base.descriptor?.derived !== undefined;
  }

  /** Updates the goals of all derived values of the base, in steps. */
  update(base: PlannedValue): Iterable<void> {
    const { graph } = this.#setter;
    if (!base.isAvailable) this.#keepDependencies(base);
    const derived = this.#derive(base);
    const isNone = derived.length === 0 && graph.derivedCount(base) === 0;
    return isNone ? none : this.#update(base, derived);
  }

  *#update(base: PlannedValue, all: readonly KeyedValue[]): Generator<void, void, void> {
    const { graph } = this.#setter;
    const keep = new Set<string>();
    for (const derived of all) {
      if (keep.has(derived.key)) continue;
      yield;
      if (this.#setGoal(base, derived.key, derived.value)) keep.add(derived.key);
    }
    for (const child of graph.newDerived(base))
      if (!keep.has(child.key)) this.#setter.dropGoal(child);
    for (const node of base.node?.derived ?? none) {
      yield;
      if (keep.has(node.key)) continue;
      const child = this.#setter.touch(node, { why: 'derived', from: base.key });
      // A derived value is unmanaged exactly if its base is.
      const { unmanaged } = base.goal;
      if (child.goal.unmanaged !== unmanaged) editable(child).goal = { ...child.goal, unmanaged };
      const { value: goal, desired, rejected } = child.goal;
      if ((goal ?? desired ?? rejected) !== undefined || child.isAvailable)
        this.#setter.dropGoal(child);
    }
  }

  /** The derived values will be forgotten: keeps the dependencies that they had. */
  #keepDependencies(base: PlannedValue): void {
    const { graph } = this.#setter;
    const kept: Dependency[] = [];
    for (const { goal } of graph.newDerived(base))
      if (goal.value !== undefined) kept.push(...goal.dependencies);
    for (const { key, desired, desiredDependencies } of base.node?.derived ?? none) {
      const goal = graph.values.get(key)?.goal;
      if ((goal ? goal.value : desired) !== undefined)
        kept.push(...(goal?.dependencies ?? desiredDependencies));
    }
    if (kept.length > 0) editable(base).derivedDependencies = kept;
  }

  #derive(base: PlannedValue): readonly KeyedValue[] {
    const { key, descriptor, goal } = base;
    if (!base.isAvailable || goal.value === undefined || !descriptor?.derived) return none;
    // Derived values derive nothing themselves.
    if (base.baseKey !== undefined) return none;
    const known = this.#derivations.get(base);
    if (known?.from === goal.value) return known.derived;
    try {
      const derived = descriptor.derived(key, goal.value);
      if (derived.length > 0) this.#derivations.set(base, { from: goal.value, derived });
      return derived;
    } catch (cause) {
      const { log } = this.#setter.input;
      log.error({ key, error: errorText(cause) }, 'descriptor cannot derive values');
      if (goal.unmanaged) return none;
      const error = new DescriptorContractError(errorText(cause), { where: key, cause });
      const isReplaced = this.#setter.rejectGoal(base, { value: goal.value, error });
      return isReplaced ? this.#derive(base) : none;
    }
  }

  /** @returns false when the derived value is ignored */
  #setGoal(base: PlannedValue, key: string, derived: Value | undefined): boolean {
    const { input, graph } = this.#setter;
    const node = input.graph.get(key);
    const known = graph.values.get(key);
    const isTaken = known ? known.baseKey !== base.key : node && node.base?.key !== base.key;
    if (derived === undefined || derived === null || isTaken) {
      input.log.warn(
        { key, from: base.key },
        'ignoring a derived value: it is empty or its key belongs to another value',
      );
      if (isTaken) this.#setter.contend(base, key);
      return false;
    }
    const { unmanaged } = base.goal;
    if (node && !known && !base.isBlocked && isInSync(node, derived, unmanaged)) return true;
    const child = known ?? this.#add(base, key, node);
    if (!child) return false;
    this.#setter.setGoal(child, derived, unmanaged, child.goal.metadata);
    return true;
  }

  #add(base: PlannedValue, key: string, node: Node | undefined): PlannedValue | undefined {
    const reason: Reason = { why: 'derived', from: base.key };
    if (node) return this.#setter.touch(node, reason);
    try {
      return this.#setter.addNew(key, base, reason);
    } catch (thrown) {
      const { log } = this.#setter.input;
      log.error({ key, error: errorText(thrown) }, 'ignoring a derived value');
      return undefined;
    }
  }
}
