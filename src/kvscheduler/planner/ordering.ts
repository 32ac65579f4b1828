/**
 * Last step of planning: the order of the operations. It is the order of a scheduler that executes one
 * operation at a time. Leftovers are removed first; then targets are deleted, recreated, created and
 * updated. Each of these groups is in the order of the keys. Before a value is deleted, its derived
 * values and dependents are; after it is created, its dependents are created, then its derived values.
 */

import { filterInSlices, sortInSlices } from '#infra/clock/slices.ts';
import { byKey } from '../graph/by-key.ts';
import { DependencyIndex } from '../graph/dependency-index.ts';
import { leftoverOf } from '../graph/leftovers.ts';
import { deadlockBreakers } from './deadlocks.ts';
import type { PlannedOperation } from './operation.ts';
import { OperationList, releasedByUpdate, takenBy } from './operation-list.ts';
import { isMany, matches } from './planned-graph.ts';
import type { PlannedValue } from './planned-value.ts';
import type { Resolution } from './resolution.ts';
import { type Cycle, findCycles } from './strongly-connected.ts';
import { runInSlices, type Traversal } from './traversal.ts';

const none: readonly PlannedValue[] = [];

export interface OrderedOperations {
  readonly operations: readonly PlannedOperation[];
  /**
   * Values that have to be recreated to break a cycle of claims: key to claim. If there are any, the
   * operations are not valid.
   */
  readonly toInterrupt: ReadonlyMap<string, string>;
}

export async function orderOperations(resolution: Resolution): Promise<OrderedOperations> {
  return new Ordering(resolution).order();
}

class Ordering {
  readonly #list: OperationList;
  readonly #toInterrupt = new Map<string, string>();
  readonly #resolution: Resolution;
  #cycles: ReadonlyMap<PlannedValue, Cycle> = new Map();
  /** Finds values that are to be deleted by their dependencies before the plan. */
  readonly #leaving = new DependencyIndex<PlannedValue>();
  /** Whether an operation may release a claim: most plans only create values. */
  #releasesClaims = false;
  /** The number of dependents by the index of a value, at most. */
  readonly #dependentCounts: Int32Array;
  /** Values that wait for an update to release a claim, by its name. */
  readonly #awaiting = new Map<string, Set<PlannedValue>>();
  /** Prefixes whose dependents are, or were, visited after a key was placed, and … */
  readonly #visited = new Set<string>();
  /** … before a key is removed. */
  readonly #cleared = new Set<string>();
  /** Derived values of a value that has many, in the order of the keys. */
  readonly #gathered = new Map<PlannedValue, readonly PlannedValue[]>();
  /** Values that are placed with unmet dependencies, because no other one can be placed. */
  #forced: ReadonlySet<PlannedValue> = new Set();

  constructor(resolution: Resolution) {
    this.#resolution = resolution;
    this.#list = new OperationList(resolution);
    this.#dependentCounts = new Int32Array(resolution.graph.all.length);
  }

  async order(): Promise<OrderedOperations> {
    const { input, graph } = this.#resolution;
    const { slices } = input;
    const needed: PlannedValue[] = [];
    await slices.each(graph.all, (value) => {
      if (value.isCreated || value.isUpdated) graph.indexKnown(value);
      this.#releasesClaims ||= value.isDeleted || value.isUpdated;
      if (value.isDeleted && value.node) this.#leaving.add(value, value.node.indexed);
    });
    await slices.each(graph.all, (value, index) => {
      const count = graph.plannedCount(value.key) + this.#leaving.count(value.key);
      this.#dependentCounts[index] = count;
      // A value that no other one needs is in no cycle.
      if (value.isCreated && (count > 0 || graph.derivedCount(value) > 0)) needed.push(value);
    });
    this.#cycles = await findCycles(needed, (value) => this.#neededByKey(value), slices);
    await runInSlices(this.#visitEach(await this.#starts()), slices);
    // Values that are not reached from the starts, and those that had to wait for a later operation.
    const open = await filterInSlices(graph.all, (one) => this.#isOpen(one), slices);
    const rest = await sortInSlices(open, byKey, slices);
    await runInSlices(this.#visitEach(rest), slices);
    for (let left = this.#unplaced(rest); left.length > 0; left = this.#unplaced(left)) {
      await this.#breakDeadlock(left);
      await runInSlices(this.#visitEach(left), slices);
      this.#forced = new Set();
    }
    return { operations: this.#list.operations, toInterrupt: this.#toInterrupt };
  }

  async #starts(): Promise<PlannedValue[]> {
    const { graph, input } = this.#resolution;
    const { slices, undoOrder } = input;
    if (undoOrder)
      return undoOrder.map((key) => graph.values.get(key)).filter((value) => value !== undefined);
    const starts = await filterInSlices(graph.all, ({ role }) => role !== 'related', slices);
    return sortInSlices(starts, (a, b) => groupOf(a) - groupOf(b) || byKey(a, b), slices);
  }

  *#visitEach(values: readonly PlannedValue[]): Traversal {
    const { slices } = this.#resolution.input;
    for (const value of values) {
      // A value that followed from an earlier one has its place.
      const left = this.#list.isPlaced(value) ? undefined : this.#placeDirectly(value);
      if (left) yield this.#visit(left);
      else if (slices.due()) yield slices.turn();
    }
  }

  /**
   * Places a value and those that follow from it, as long as that needs no traversal: most have no relations, and
   * those of a chain have one dependent.
   * @returns the first value that needs a traversal
   */
  #placeDirectly(first: PlannedValue): PlannedValue | undefined {
    const { slices } = this.#resolution.input;
    let value = first;
    while (!this.#placeLeaf(value)) {
      const next = this.#onlyDependent(value);
      if (!next || slices.due()) return value;
      if (this.#list.isPlaced(value) || !this.#isReady(value) || !this.#claimsAreFree(value))
        return undefined;
      this.#list.create(value);
      value = next;
    }
    return undefined;
  }

  /** Places a value without relations; most have none, and need no traversal. */
  #placeLeaf(value: PlannedValue): boolean {
    if (value.isDeleted || this.#hasRelations(value)) return false;
    if (value.isCreated || value.isUpdated) {
      if (this.#deletedHolders(value).length > 0) return false;
      if (this.#list.isPlaced(value) || !this.#isReady(value) || !this.#claimsAreFree(value))
        return true;
      if (value.isCreated) this.#list.create(value);
      else this.#list.update(value);
    } else this.#list.note(value);
    return true;
  }

  /** The one value that is to be created after this one, if nothing else changes with this one. */
  #onlyDependent(value: PlannedValue): PlannedValue | undefined {
    const { graph, input } = this.#resolution;
    if (!value.isCreated || value.isDeleted || input.drifted.size > 0) return undefined;
    if (this.#dependentCounts[value.index] !== 1 || graph.derivedCount(value) > 0) return undefined;
    const dependents = graph.plannedDependents(value.key);
    const only = dependents.length === 1 ? dependents[0] : undefined;
    if (!only?.isCreated || this.#list.isPlaced(only)) return undefined;
    if (graph.prefixesOf(value.key).length > 0 || this.#deletedHolders(value).length > 0)
      return undefined;
    return only;
  }

  #hasRelations(value: PlannedValue): boolean {
    const { graph } = this.#resolution;
    if (graph.derivedCount(value) > 0) return true;
    if (value.descriptor?.claims && this.#awaiting.size > 0) return true;
    return this.#hasDependents(value);
  }

  #hasDependents({ index }: PlannedValue): boolean {
    return (this.#dependentCounts[index] as number) > 0;
  }

  *#visit(value: PlannedValue): Traversal {
    if (value.isDeleted) yield this.#remove(value);
    if (value.isCreated) yield this.#create(value);
    else if (value.exists && value.isAvailable && !value.isBlocked) yield this.#change(value);
    else if (!value.isDeleted) this.#list.note(value);
  }

  *#remove(value: PlannedValue): Traversal {
    const list = this.#list;
    if (!value.isDeleted || list.isRemoved(value) || list.progress(value) === 'removing') return;
    if (this.#derivesMany(value)) yield this.#gatherDerived(value);
    const children = this.#derivedOf(value);
    // A cycle that led back to the base of a value that is being removed: the base follows by itself.
    if (children.some((child) => list.progress(child) === 'removing')) return;
    list.setProgress(value, 'removing');
    for (const child of children) {
      if (child.isDeleted) yield this.#remove(child);
      else if (child.goal.value === undefined) list.note(child);
    }
    yield this.#removeDependents(value);
    list.remove(value);
  }

  *#removeDependents(value: PlannedValue): Traversal {
    if (!this.#hasDependents(value)) return;
    const { graph } = this.#resolution;
    const { key } = value;
    const leaving = [...this.#leaving.find(key, this.#isCleared)];
    if (isMany(leaving.length)) yield this.#sort(leaving);
    else leaving.sort(byKey);
    const prefixes = graph.prefixesOf(key).filter((prefix) => !this.#cleared.has(prefix));
    // Already now: the dependents may have keys of the prefix, too, while this key serves those that are left.
    for (const prefix of prefixes) this.#cleared.add(prefix);
    for (const one of leaving) yield this.#remove(one);
    // One from which the key is derived is removed after it: it has to precede the other keys.
    if (!leaving.every((one) => this.#list.isRemoved(one)))
      for (const prefix of prefixes) this.#cleared.delete(prefix);
  }

  /** The dependents that are to be removed are removed already, or are about to be. */
  readonly #isCleared = (prefix: string): boolean => this.#cleared.has(prefix);

  *#create(value: PlannedValue): Traversal {
    if (this.#list.isPlaced(value) || !value.isCreated || !this.#isReady(value)) return;
    for (const holder of this.#deletedHolders(value)) yield this.#remove(holder);
    if (!this.#claimsAreFree(value)) return;
    if (value.isDeleted) yield this.#remove(value);
    // what refers to a predecessor that the southbound has lost, or never had in this run
    else if (this.#resolution.input.drifted.size > 0) yield this.#removeDependents(value);
    this.#list.create(value);
    const { graph, input } = this.#resolution;
    const { key } = value;
    const count = this.#hasDependents(value) ? graph.plannedCount(key, this.#isVisited) : 0;
    if (count > 0) {
      const waiting: PlannedValue[] = [];
      if (isMany(count)) yield this.#gatherWaiting(key, waiting);
      else this.#findWaiting(key, waiting);
      // Already now: the dependents may have keys of the prefix, too.
      for (const prefix of graph.prefixesOf(key)) this.#visited.add(prefix);
      // Not a traversal of its own: each value of a long chain is on the path until the last is placed.
      for (const dependent of waiting) {
        if (!dependent.isCreated && this.#list.progress(dependent) !== 'deferred') continue;
        const left = this.#placeDirectly(dependent);
        if (!left) {
          if (input.slices.due()) yield input.slices.turn();
        } else if (left.isCreated) yield this.#create(left);
        else yield this.#change(left);
      }
    }
    if (this.#derivesMany(value)) yield this.#gatherDerived(value);
    const children = this.#derivedOf(value);
    if (children.length > 0) yield this.#visitEach(children);
  }

  *#change(value: PlannedValue): Traversal {
    if (this.#list.isPlaced(value)) return;
    if (value.isUpdated) {
      if (!this.#isReady(value)) return;
      for (const holder of this.#deletedHolders(value)) yield this.#remove(holder);
      if (!this.#claimsAreFree(value)) return;
    }
    if (this.#derivesMany(value)) yield this.#gatherDerived(value);
    for (const child of this.#derivedOf(value))
      if (child.goal.value === undefined) yield this.#visit(child);
    if (value.isUpdated) this.#list.update(value);
    else this.#list.note(value);
    for (const taker of this.#takersOfReleased(value)) yield this.#visit(taker);
    yield this.#visitEach(this.#derivedOf(value));
  }

  /** The dependents are being placed, or wait for something else: another key of the prefix places none. */
  readonly #isVisited = (prefix: string): boolean => this.#visited.has(prefix);

  /** The dependents that wait for the key, in the order of the keys. */
  #findWaiting(key: string, waiting: PlannedValue[]): void {
    for (const one of this.#resolution.graph.plannedDependents(key, this.#isVisited))
      if (!this.#list.isPlaced(one)) waiting.push(one);
    waiting.sort(byKey);
  }

  /** The same for a key that has many. */
  async #gatherWaiting(key: string, waiting: PlannedValue[]): Promise<void> {
    const { graph, input } = this.#resolution;
    for (const one of graph.plannedDependents(key, this.#isVisited)) {
      if (input.slices.due()) await input.slices.turn();
      if (!this.#list.isPlaced(one)) waiting.push(one);
    }
    await this.#sort(waiting);
  }

  async #sort(values: PlannedValue[]): Promise<void> {
    const sorted = await sortInSlices(values, byKey, this.#resolution.input.slices);
    for (const [at, value] of sorted.entries()) values[at] = value;
  }

  /** Derived values in the order of the keys. */
  #derivedOf(base: PlannedValue): readonly PlannedValue[] {
    const gathered = this.#gathered.get(base);
    if (gathered) return gathered;
    if (this.#resolution.graph.derivedCount(base) === 0) return none;
    return [...this.#eachDerived(base)].sort(byKey);
  }

  async #gatherDerived(base: PlannedValue): Promise<void> {
    if (this.#gathered.has(base)) return;
    const { slices } = this.#resolution.input;
    this.#gathered.set(base, await sortInSlices([...this.#eachDerived(base)], byKey, slices));
  }

  *#eachDerived(base: PlannedValue): Generator<PlannedValue, void, void> {
    const { graph } = this.#resolution;
    yield* graph.newDerived(base);
    for (const { key } of base.node?.derived ?? []) {
      const child = graph.values.get(key);
      if (child) yield child;
    }
  }

  #derivesMany(value: PlannedValue): boolean {
    return isMany(this.#resolution.graph.derivedCount(value));
  }

  /** Whether the operation can be placed; if not, it is placed after the operations that it needs. */
  #isReady(value: PlannedValue): boolean {
    if (this.#forced.has(value)) return true;
    const cycle = this.#cycles.get(value);
    let isReady: boolean;
    if (!cycle) isReady = this.#isMet(value, undefined);
    else {
      cycle.isReady ||= cycle.members.every((member) => this.#isMet(member, cycle));
      // Within a cycle, too, a derived value is placed after its base.
      isReady = cycle.isReady && this.#unplacedBase(value) === undefined;
    }
    this.#setDeferred(value, !isReady);
    return isReady;
  }

  #setDeferred(value: PlannedValue, isDeferred: boolean): void {
    const progress = this.#list.progress(value);
    if (progress === 'open' || progress === 'deferred')
      this.#list.setProgress(value, isDeferred ? 'deferred' : 'open');
  }

  /** @param cycle whose members count as available, since they are created together */
  #isMet(value: PlannedValue, cycle: Cycle | undefined): boolean {
    const base = this.#unplacedBase(value);
    if (base && !(cycle && this.#cycles.get(base) === cycle)) return false;
    const { graph } = this.#resolution;
    const { available } = this.#list;
    for (const dependency of value.goal.dependencies) {
      const { key } = dependency;
      if (key !== undefined && this.#isInCycle(key, cycle)) continue;
      if (matches(dependency, value.key)) continue;
      if (!graph.isSupported(value, dependency, available)) return false;
    }
    return true;
  }

  /** The base of a derived value, if its own operation is not placed yet. */
  #unplacedBase({ baseKey }: PlannedValue): PlannedValue | undefined {
    const base = baseKey === undefined ? undefined : this.#resolution.graph.values.get(baseKey);
    if (!base || this.#list.isPlaced(base)) return undefined;
    return base.isCreated || base.isUpdated ? base : undefined;
  }

  #isInCycle(key: string, cycle: Cycle | undefined): boolean {
    const value = cycle && this.#resolution.graph.values.get(key);
    return value !== undefined && this.#cycles.get(value) === cycle;
  }

  /** Values to be created whose keys are dependencies of this one, and its base. */
  #neededByKey({ key: own, baseKey, goal }: PlannedValue): PlannedValue[] {
    const needed: PlannedValue[] = [];
    const add = (key: string | undefined): void => {
      if (key === undefined || key === own) return;
      const value = this.#resolution.graph.values.get(key);
      if (value?.isCreated) needed.push(value);
    };
    add(baseKey);
    for (const { key } of goal.dependencies) add(key);
    return needed;
  }

  /** Values that release a claim of this one by being deleted. */
  #deletedHolders(value: PlannedValue): readonly PlannedValue[] {
    let holders = none;
    if (!this.#releasesClaims || !value.descriptor?.claims) return holders;
    for (const claim of takenBy(value)) {
      const deleted = this.#holdersOf(claim, value).filter(({ isDeleted }) => isDeleted);
      if (deleted.length > 0) holders = [...holders, ...deleted];
    }
    return holders;
  }

  /** Whether every update that releases a claim of the value is placed already. */
  #claimsAreFree(value: PlannedValue): boolean {
    if (!this.#releasesClaims || !value.descriptor?.claims || this.#forced.has(value)) return true;
    let areFree = true;
    for (const claim of takenBy(value))
      for (const holder of this.#holdersOf(claim, value)) {
        if (this.#list.isPlaced(holder) || this.#list.isRemoved(holder)) continue;
        const awaiting = this.#awaiting.get(claim) ?? new Set();
        this.#awaiting.set(claim, awaiting.add(value));
        areFree = false;
      }
    if (!areFree) this.#setDeferred(value, true);
    return areFree;
  }

  #holdersOf(claim: string, value: PlannedValue): readonly PlannedValue[] {
    const { graph, input } = this.#resolution;
    // Most claims have no other holder.
    if (!input.graph.isClaimedByOther(value.node, claim)) return none;
    const holders: PlannedValue[] = [];
    for (const { key } of input.graph.holders(claim)) {
      const holder = graph.values.get(key);
      if (holder && holder !== value) holders.push(holder);
    }
    return holders;
  }

  #takersOfReleased(value: PlannedValue): PlannedValue[] {
    const takers: PlannedValue[] = [];
    if (!value.descriptor?.claims || this.#awaiting.size === 0) return takers;
    for (const claim of releasedByUpdate(value)) {
      takers.push(...(this.#awaiting.get(claim) ?? []));
      this.#awaiting.delete(claim);
    }
    return takers.sort(byKey);
  }

  /** No value can be placed any more: interrupts a value or forces some. */
  async #breakDeadlock(left: readonly PlannedValue[]): Promise<void> {
    for (const value of left) {
      if (!value.isUpdated) continue;
      const claim = releasedByUpdate(value).find((one) => this.#awaiting.has(one));
      if (claim === undefined) continue;
      // From here on only further cycles are searched: planning starts again.
      this.#toInterrupt.set(value.key, claim);
      this.#list.setProgress(value, 'placed');
      return;
    }
    const { available } = this.#list;
    const waiting = {
      baseOf: (value: PlannedValue) => this.#unplacedBase(value),
      unmetOf: ({ goal }: PlannedValue) =>
        goal.dependencies.filter((one) => available.find(one) === undefined),
    };
    this.#forced = await deadlockBreakers(left, waiting, this.#resolution.input.slices);
  }

  #isOpen(value: PlannedValue): boolean {
    if (this.#list.isPlaced(value)) return false;
    return value.isCreated || !this.#list.isRemoved(value);
  }

  #unplaced(values: readonly PlannedValue[]): PlannedValue[] {
    return values.filter((one) => !this.#list.isPlaced(one) && (one.isCreated || one.isUpdated));
  }
}

/** Leftovers, then delete, recreate, create, update. */
function groupOf({ node, goal, decision, exists }: PlannedValue): number {
  if (node && leftoverOf(node)) return -1;
  if (goal.value === undefined && !goal.rejected) return 0;
  if (decision.action === 'recreate' && decision.isChange) return 1;
  return exists ? 3 : 2;
}
