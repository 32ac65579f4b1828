/**
 * Second half of planning: in which order things are done. It is the order of a scheduler that does
 * one thing at a time: targets come as delete, re-create, create, update, each by key; before a
 * value goes, what is derived from it and what depends on it goes; after it has come, what waited
 * for it comes, and then what is derived from it.
 */

import { filterInSlices, sortInSlices } from '#infra/clock/slices.ts';
import { byKey } from '../graph/by-key.ts';
import type { Node } from '../graph/graph.ts';
import { waysOut } from './deadlocks.ts';
import { OperationList, releasedByUpdate, takenBy } from './operation-list.ts';
import { isMany } from './planned-graph.ts';
import { Draft } from './planned-value.ts';
import type { Resolver } from './resolver.ts';
import { type Cycle, findCycles } from './strongly-connected.ts';
import { carryOut, type Walk } from './traversal.ts';

const nobody: readonly Draft[] = [];

export class Ordering {
  readonly list: OperationList;
  /** Values that have to go for a moment to break a circle of claims, and the claim. */
  readonly bounced = new Map<string, string>();
  readonly #resolver: Resolver;
  #cycles: ReadonlyMap<Draft, Cycle> = new Map();
  /** Drafts that wait for an update to give a claim up, by its name. */
  readonly #awaiting = new Map<string, Set<Draft>>();
  /** What is derived from a value that derives many, in the order of the keys. */
  readonly #gathered = new Map<Draft, readonly Draft[]>();
  /** Placed although not everything is there: nothing else was left. */
  #forced: ReadonlySet<Draft> = new Set();

  constructor(resolver: Resolver) {
    this.#resolver = resolver;
    this.list = new OperationList(resolver);
  }

  async run(): Promise<void> {
    const { input, view } = this.#resolver;
    const { slices } = input;
    // What nobody depends on is in no circle.
    const needed = await filterInSlices(
      view.drafts.values(),
      ({ needsCreate, key }) => needsCreate && view.dependentCount(key) > 0,
      slices,
    );
    this.#cycles = await findCycles(needed, (draft) => this.#neededByName(draft), slices);
    await carryOut(this.#visitEach(await this.#seeds()), slices);
    // What no seed led to, and what had to wait for something that came later.
    const open = await filterInSlices(view.drafts.values(), isOpen, slices);
    const rest = await sortInSlices(open, byKey, slices);
    await carryOut(this.#visitEach(rest), slices);
    for (let left = leftOver(rest); left.length > 0; left = leftOver(left)) {
      await this.#unblock(left);
      await carryOut(this.#visitEach(left), slices);
      this.#forced = new Set();
    }
  }

  async #seeds(): Promise<Draft[]> {
    const { drafts, input } = this.#resolver;
    const { slices, order } = input;
    if (order) return order.map((key) => drafts.get(key)).filter((draft) => draft !== undefined);
    const seeds = await filterInSlices(drafts.values(), ({ seed }) => seed, slices);
    return sortInSlices(seeds, (a, b) => groupOf(a) - groupOf(b) || byKey(a, b), slices);
  }

  *#visitEach(drafts: readonly Draft[]): Walk {
    const { slices } = this.#resolver.input;
    for (const draft of drafts) {
      if (!this.#placeLeaf(draft)) yield this.#visit(draft);
      else if (slices.due()) yield slices.turn();
    }
  }

  /**
   * Most values stand alone: nothing goes before them and nothing comes after them. It needs no walk
   * to place such a one.
   */
  #placeLeaf(draft: Draft): boolean {
    if (draft.needsDelete || this.#leadsOn(draft)) return false;
    if (draft.needsCreate || draft.needsUpdate) {
      if (this.#holdersThatGo(draft).length > 0) return false;
      if (draft.done || !this.#isReady(draft) || !this.#claimsAreFree(draft)) return true;
      if (draft.needsCreate) this.list.create(draft);
      else this.list.update(draft);
    } else this.list.note(draft);
    return true;
  }

  #leadsOn({ key, node, descriptor, newChildren }: Draft): boolean {
    if (newChildren.length > 0 || (node?.derived.size ?? 0) > 0) return true;
    if (descriptor?.claims && this.#awaiting.size > 0) return true;
    return this.#resolver.view.dependentCount(key) > 0;
  }

  *#visit(draft: Draft): Walk {
    if (draft.needsDelete) yield this.#remove(draft);
    if (draft.needsCreate) yield this.#bring(draft);
    else if (draft.current && draft.up && !draft.held) yield this.#change(draft);
    else if (!draft.needsDelete) this.list.note(draft);
  }

  *#remove(draft: Draft): Walk {
    if (draft.deleted || draft.removing || !draft.needsDelete) return;
    if (derivesMany(draft)) yield this.#gatherChildren(draft);
    const children = this.#children(draft);
    // A circle that led back to the base of what is going: the base comes after it, by itself.
    if (children.some(({ removing, deleted }) => removing && !deleted)) return;
    draft.removing = true;
    for (const child of children) {
      if (child.needsDelete) yield this.#remove(child);
      else if (child.wish === undefined) this.list.note(child);
    }
    yield this.#removeDependents(draft);
    this.list.remove(draft);
  }

  *#removeDependents(draft: Draft): Walk {
    const { view, input } = this.#resolver;
    if (isMany(view.dependentCount(draft.key))) yield view.gatherNodes(draft.key, input.slices);
    for (const { key } of view.dependentNodes(draft.key)) {
      const dependent = this.#resolver.drafts.get(key);
      if (dependent?.needsDelete) yield this.#remove(dependent);
    }
  }

  *#bring(draft: Draft): Walk {
    if (draft.done || !draft.needsCreate || !this.#isReady(draft)) return;
    for (const holder of this.#holdersThatGo(draft)) yield this.#remove(holder);
    if (!this.#claimsAreFree(draft)) return;
    if (draft.needsDelete) yield this.#remove(draft);
    else if (this.#resolver.isLost(draft)) yield this.#removeDependents(draft);
    this.list.create(draft);
    yield this.#push(draft);
    if (derivesMany(draft)) yield this.#gatherChildren(draft);
    for (const child of this.#children(draft)) yield this.#visit(child);
  }

  *#change(draft: Draft): Walk {
    if (draft.done) return;
    if (draft.needsUpdate) {
      if (!this.#isReady(draft)) return;
      for (const holder of this.#holdersThatGo(draft)) yield this.#remove(holder);
      if (!this.#claimsAreFree(draft)) return;
    }
    if (derivesMany(draft)) yield this.#gatherChildren(draft);
    for (const child of this.#children(draft))
      if (child.wish === undefined) yield this.#visit(child);
    if (draft.needsUpdate) this.list.update(draft);
    else this.list.note(draft);
    for (const taker of this.#takersOfReleased(draft)) yield this.#visit(taker);
    for (const child of this.#children(draft)) yield this.#visit(child);
  }

  /** Whoever waited for a value that has come. */
  *#push({ key }: Draft): Walk {
    const { view, input } = this.#resolver;
    const waiting: Draft[] = [];
    const count = view.dependentCount(key);
    if (isMany(count)) yield this.#gather(key, waiting);
    else if (count > 0) {
      for (const one of view.dependents(key)) this.#addOpen(one, waiting);
      waiting.sort(byKey);
    }
    for (const dependent of waiting) {
      if (!dependent.needsCreate && !dependent.deferred) continue;
      if (this.#placeLeaf(dependent)) {
        if (input.slices.due()) yield input.slices.turn();
      } else if (dependent.needsCreate) yield this.#bring(dependent);
      else yield this.#change(dependent);
    }
  }

  async #gather(hub: string, waiting: Draft[]): Promise<void> {
    const { view, input } = this.#resolver;
    const open: Draft[] = [];
    for (const one of await view.manyDependents(hub, input.slices)) {
      if (input.slices.due()) await input.slices.turn();
      this.#addOpen(one, open);
    }
    for (const draft of await sortInSlices(open, byKey, input.slices)) waiting.push(draft);
  }

  #addOpen(one: Node | Draft, to: Draft[]): void {
    const draft = one instanceof Draft ? one : this.#resolver.drafts.get(one.key);
    if (draft && !draft.done) to.push(draft);
  }

  /** What is derived from the value, in the order of the keys. */
  #children(draft: Draft): readonly Draft[] {
    const gathered = this.#gathered.get(draft);
    if (gathered) return gathered;
    const children = [...this.#childrenOf(draft)];
    return children.length < 2 ? children : children.sort(byKey);
  }

  async #gatherChildren(draft: Draft): Promise<void> {
    if (this.#gathered.has(draft)) return;
    const { slices } = this.#resolver.input;
    this.#gathered.set(draft, await sortInSlices([...this.#childrenOf(draft)], byKey, slices));
  }

  *#childrenOf({ node, newChildren }: Draft): Generator<Draft, void, void> {
    yield* newChildren;
    for (const { key } of node?.derived ?? []) {
      const child = this.#resolver.drafts.get(key);
      if (child) yield child;
    }
  }

  /** Whether the draft's operation can be placed; if not, it is when that comes which it needs. */
  #isReady(draft: Draft): boolean {
    if (this.#forced.has(draft)) return true;
    const cycle = this.#cycles.get(draft);
    if (!cycle) draft.deferred = !this.#hasWhatItNeeds(draft, undefined);
    else {
      cycle.ready ||= cycle.members.every((member) => this.#hasWhatItNeeds(member, cycle));
      // Whatever else goes in a circle, a derived value comes after its base.
      draft.deferred = !cycle.ready || this.#openBase(draft) !== undefined;
    }
    return !draft.deferred;
  }

  /** @param cycle whose members count as there, since they come together */
  #hasWhatItNeeds(draft: Draft, cycle: Cycle | undefined): boolean {
    const base = this.#openBase(draft);
    if (base && !(cycle && this.#cycles.get(base) === cycle)) return false;
    return draft.dependencies.every((dependency) => {
      const { key } = dependency;
      if (key !== undefined && this.#comesWith(key, cycle)) return true;
      const isMet = (one: string): boolean => one === draft.key || this.list.stands(one);
      return this.#resolver.view.support(draft, dependency, isMet) !== undefined;
    });
  }

  /** The base of a derived value, if its own operation is not placed yet. */
  #openBase({ baseKey }: Draft): Draft | undefined {
    const base = baseKey === undefined ? undefined : this.#resolver.drafts.get(baseKey);
    return base && !base.done && (base.needsCreate || base.needsUpdate) ? base : undefined;
  }

  #comesWith(key: string, cycle: Cycle | undefined): boolean {
    const draft = cycle && this.#resolver.drafts.get(key);
    return draft !== undefined && this.#cycles.get(draft) === cycle;
  }

  /** Values to be created that this one needs by name. */
  #neededByName({ key: own, baseKey, dependencies }: Draft): Draft[] {
    const needed: Draft[] = [];
    for (const key of [baseKey, ...dependencies.map((dependency) => dependency.key)]) {
      const draft = key === undefined || key === own ? undefined : this.#resolver.drafts.get(key);
      if (draft?.needsCreate) needed.push(draft);
    }
    return needed;
  }

  /** Holders of what the draft takes that give it up by being deleted. */
  #holdersThatGo(draft: Draft): readonly Draft[] {
    let holders = nobody;
    for (const name of takenBy(draft)) {
      const going = this.#holdersOf(name, draft).filter(({ needsDelete }) => needsDelete);
      if (going.length > 0) holders = [...holders, ...going];
    }
    return holders;
  }

  /** Whether every update that gives up what the draft takes is placed already. */
  #claimsAreFree(draft: Draft): boolean {
    if (this.#forced.has(draft)) return true;
    for (const name of takenBy(draft))
      for (const holder of this.#holdersOf(name, draft)) {
        if (holder.done || holder.deleted) continue;
        const awaiting = this.#awaiting.get(name) ?? new Set();
        this.#awaiting.set(name, awaiting.add(draft));
        draft.deferred = true;
      }
    return !draft.deferred;
  }

  #holdersOf(name: string, draft: Draft): readonly Draft[] {
    const { drafts, input } = this.#resolver;
    // most names have no other holder
    if (!input.graph.isClaimedByOther(draft.node, name)) return nobody;
    const holders: Draft[] = [];
    for (const { key } of input.graph.holders(name)) {
      const holder = drafts.get(key);
      if (holder && holder !== draft) holders.push(holder);
    }
    return holders;
  }

  #takersOfReleased(draft: Draft): Draft[] {
    const takers: Draft[] = [];
    if (!draft.descriptor?.claims || this.#awaiting.size === 0) return takers;
    for (const name of releasedByUpdate(draft)) {
      takers.push(...(this.#awaiting.get(name) ?? []));
      this.#awaiting.delete(name);
    }
    return takers.sort(byKey);
  }

  /** Nothing can be placed any more: gives those that are stuck a way out. */
  async #unblock(left: readonly Draft[]): Promise<void> {
    for (const draft of left) {
      if (!draft.needsUpdate) continue;
      const name = releasedByUpdate(draft).find((one) => this.#awaiting.has(one));
      if (name === undefined) continue;
      // From here on the walk only looks for further circles: the plan is made anew.
      this.bounced.set(draft.key, name);
      draft.done = true;
      return;
    }
    const { view, input } = this.#resolver;
    const stands = (key: string): boolean => this.list.stands(key);
    const waiting = {
      baseOf: (draft: Draft) => this.#openBase(draft),
      unmetOf: ({ dependencies }: Draft) =>
        dependencies.filter((one) => view.first(one, stands) === undefined),
    };
    this.#forced = await waysOut(left, waiting, input.slices);
  }
}

function derivesMany({ node, newChildren }: Draft): boolean {
  return isMany(newChildren.length + (node?.derived.size ?? 0));
}

/** Delete, re-create, create, update. */
function groupOf(draft: Draft): number {
  if (draft.wish === undefined) return 0;
  if (draft.recreate) return 1;
  return draft.current ? 3 : 2;
}

function isOpen(draft: Draft): boolean {
  if (draft.done) return false;
  return draft.needsCreate || !draft.deleted;
}

function leftOver(drafts: readonly Draft[]): Draft[] {
  return drafts.filter((one) => !one.done && (one.needsCreate || one.needsUpdate));
}
