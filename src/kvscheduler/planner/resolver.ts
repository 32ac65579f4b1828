/**
 * First half of planning: which values will be there when all is done. The answer is the largest
 * set in which every value has what it depends on (values that depend on each other in a circle
 * come together or not at all), worked out for what the change can reach and nothing else: every
 * value that might rise is first taken to be up, then those whose dependencies are not met are
 * taken out until nothing moves.
 */

import { errorText } from '#infra/errors/errors.ts';
import { DerivedKeyError, DescriptorContractError } from '../api/errors.ts';
import type { Value } from '../api/transaction.ts';
import type { Node } from '../graph/graph.ts';
import type { PlanInput, Target } from './input.ts';
import { inSync, isThere, knownWish, study } from './inspection.ts';
import { isMany, names, PlannedView } from './planned-graph.ts';
import { Draft } from './planned-value.ts';
import type { Reason } from './reason.ts';

const none: readonly never[] = [];

export class Resolver {
  readonly input: PlanInput;
  readonly view: PlannedView;
  /** Drafts whose wish claims something, or whose node holds a claim. */
  readonly claimants = new Set<Draft>();
  /** Targets that cannot be taken at all. */
  readonly refused: { readonly key: string; readonly error: Error }[] = [];
  readonly #held: ReadonlySet<Node>;
  readonly #rising: Draft[] = [];
  readonly #doubtful: Draft[] = [];
  readonly #expanding: Draft[] = [];
  /** Nodes that may stand in the way of others no longer. */
  readonly #giving: Node[] = [];
  /** Keys that are not there any more and on which many depend: to be told to them. */
  readonly #lostByMany: string[] = [];

  /** @param held the frozen nodes and those that have to stay because of them */
  constructor(input: PlanInput, held: ReadonlySet<Node>) {
    this.input = input;
    this.view = new PlannedView(input.graph);
    this.#held = held;
  }

  get drafts(): ReadonlyMap<string, Draft> {
    return this.view.drafts;
  }

  /**
   * Takes in what the plan is about; `settle` works out what it comes to.
   * @param troubled nodes that an earlier attempt at the plan has met too late
   */
  async open(troubled: readonly Node[]): Promise<void> {
    const { graph, targets, reconcile: examine, drifted: moved, slices } = this.input;
    for (const node of this.#held) {
      if (slices.due()) await slices.turn();
      const draft = this.touch(node, { why: 'repair' });
      this.#open(draft);
    }
    for (const target of targets) {
      if (slices.due()) await slices.turn();
      this.#aim(target);
    }
    for (const node of examine) {
      if (slices.due()) await slices.turn();
      this.#examine(node);
    }
    for (const node of moved) {
      if (slices.due()) await slices.turn();
      this.#examine(node);
    }
    for (const node of moved.size > 0 ? [...troubled, ...graph.blocked] : troubled) {
      if (slices.due()) await slices.turn();
      this.touch(node, { why: 'repair' });
    }
  }

  /** The draft of a node that the graph knows. */
  touch(node: Node, reason: Reason): Draft {
    const known = this.drafts.get(node.key);
    if (known) return known;
    const draft = this.#draft(node, reason);
    if (node.outOfSync && !draft.held) this.#open(draft);
    return draft;
  }

  #draft(node: Node, reason: Reason): Draft {
    const { graph } = this.input;
    graph.visits++;
    const draft = new Draft(node, node, node.base?.key, this.#held.has(node), reason);
    this.view.add(draft);
    if (node.descriptor?.claims) this.claimants.add(draft);
    if (graph.blocked.size > 0 && !draft.held && graph.mayBlockOthers(node))
      this.#giving.push(node);
    if (node.needsInspection && !draft.held && draft.wish !== undefined) {
      study(draft, draft.wish);
      this.view.index(draft);
    }
    return draft;
  }

  /** Lets a draft be what it can be, with all that belongs to it. */
  #open(draft: Draft): void {
    if (this.canRise(draft) || (draft.held && draft.up)) this.raise(draft);
    else this.lower(draft);
  }

  canRise(draft: Draft): boolean {
    return (
      draft.wish !== undefined &&
      draft.invalid === undefined &&
      draft.blocked === undefined &&
      draft.implemented &&
      !draft.held &&
      (draft.baseKey === undefined || this.view.isUp(draft.baseKey))
    );
  }

  raise(draft: Draft): void {
    draft.up = true;
    this.#rising.push(draft);
    this.doubt(draft);
  }

  lower(draft: Draft): void {
    draft.up = false;
    draft.lowered = true;
    this.#expand(draft);
    this.#tellLost(draft.key);
  }

  doubt(draft: Draft): void {
    if (draft.doubted) return;
    draft.doubted = true;
    this.#doubtful.push(draft);
  }

  #aim(target: Target): void {
    const { graph } = this.input;
    const { key, value } = target;
    const node = graph.get(key);
    if (node?.base) {
      const error = new DerivedKeyError(`is derived from ${node.base.key}`, { where: key });
      this.refused.push({ key, error });
      return;
    }
    if (value === null) {
      if (!node || (node.unmanaged && !target.unmanaged)) return;
      const draft = this.touch(node, { why: target.orphan ? 'leftover' : aimOf(target) });
      draft.target = true;
      draft.seed = true;
      this.#unwish(draft);
      return;
    }
    if (node && inSync(node, value, target.unmanaged ?? false)) {
      for (const child of node.derived) if (isBroken(child)) this.#examine(child);
      return;
    }
    const draft = node
      ? (this.drafts.get(key) ?? this.#draft(node, { why: 'changed' }))
      : this.#fresh(key, target);
    if (!draft) return;
    draft.reason = { why: node?.state === 'MISSING' ? 'missing' : aimOf(target) };
    draft.target = true;
    draft.seed = true;
    draft.foreign = target.unmanaged ?? false;
    draft.metadata = target.metadata;
    this.#wish(draft, value);
    const isLeft = node?.outOfSync && !draft.held && !draft.up && !draft.lowered;
    if (isLeft) this.lower(draft);
  }

  #fresh(key: string, target: Target): Draft | undefined {
    const { registry } = this.input;
    try {
      const subject = { key, descriptor: registry.find(key) };
      return this.#add(new Draft(subject, undefined, undefined, false, { why: aimOf(target) }));
    } catch (thrown) {
      this.refused.push({ key, error: thrown as Error });
      return undefined;
    }
  }

  #add(draft: Draft): Draft {
    this.view.add(draft);
    if (draft.descriptor?.claims) this.claimants.add(draft);
    return draft;
  }

  #examine(node: Node): void {
    const draft = this.touch(node, { why: node.state === 'MISSING' ? 'missing' : 'repair' });
    if (draft.target) return;
    draft.seed = node.base === undefined;
    this.#open(draft);
  }

  /** Gives the draft a value to be. */
  #wish(draft: Draft, value: Value): void {
    const { node } = draft;
    const known = knownWish(draft, value);
    draft.wanted = known ?? value;
    if (draft.held) {
      if (draft.up) this.raise(draft);
      return;
    }
    if (node && known !== undefined) {
      draft.wish = known;
      if (node.needsInspection) study(draft, known);
      else {
        draft.dependencies = node.desiredDependencies;
        draft.invalid = node.invalid;
      }
    } else if (draft.foreign) {
      draft.wish = value;
      draft.wanted = undefined;
      draft.invalid = undefined;
      draft.dependencies = none;
    } else {
      draft.wish = node && isThere(node, value) ? node.actual : value;
      draft.wanted = draft.wish;
      study(draft, draft.wish as Value);
    }
    this.view.index(draft);
    if (this.canRise(draft)) this.raise(draft);
    else if (draft.up || this.isLost(draft)) this.lower(draft);
  }

  /** Takes the wish away. */
  #unwish(draft: Draft): void {
    draft.wanted = undefined;
    draft.wish = undefined;
    draft.invalid = undefined;
    if (draft.up || draft.current || this.isLost(draft)) this.lower(draft);
  }

  /** Whether it went by itself: what rested on it may be gone, too, or be where it was. */
  isLost({ node, current }: Draft): boolean {
    return !current && node !== undefined && this.input.drifted.has(node);
  }

  /** Until nothing moves: brings up what can be up, takes out what lacks something. */
  async settle(): Promise<void> {
    const { slices } = this.input;
    for (;;) {
      if (slices.due()) await slices.turn();
      const giving = this.#giving.pop();
      if (giving) {
        for (const node of this.#hinderedBy(giving)) this.touch(node, { why: 'repair' });
        continue;
      }
      const lost = this.#lostByMany.pop();
      if (lost !== undefined) {
        for (const one of await this.view.manyDependents(lost, slices)) {
          if (slices.due()) await slices.turn();
          this.#lack(one, lost);
        }
        continue;
      }
      const rising = this.#rising.pop();
      if (rising) {
        const following = rising.up ? this.#follow(rising) : undefined;
        if (following) await following;
        continue;
      }
      const doubtful = this.#doubtful.pop();
      if (doubtful) {
        doubtful.doubted = false;
        if (doubtful.up && !this.#isReady(doubtful)) this.lower(doubtful);
        continue;
      }
      // Only what holds without it derives something: nothing rests on what it derives itself.
      const settled = this.#expanding.pop();
      if (!settled) return;
      if (!settled.up) continue;
      for (const _ of this.#expansion(settled)) if (slices.due()) await slices.turn();
    }
  }

  /** What the node may have kept from going: its base and what it depends on. */
  *#hinderedBy({ base, actualDependencies }: Node): Generator<Node, void, void> {
    const { graph } = this.input;
    if (base && graph.blocked.has(base)) yield base;
    for (const dependency of actualDependencies) {
      const node = dependency.key === undefined ? undefined : graph.get(dependency.key);
      if (node && graph.blocked.has(node)) yield node;
      if (dependency.anyOf)
        for (const one of graph.blocked) if (names(dependency, one.key)) yield one;
    }
  }

  #isReady(draft: Draft): boolean {
    if (draft.baseKey !== undefined && !this.view.isUp(draft.baseKey)) return false;
    return draft.dependencies.every((dependency) => this.view.isMet(draft, dependency));
  }

  /**
   * What a value that is up brings with it: what it derives, and what waited for it.
   * @returns a promise only where many have waited
   */
  #follow(draft: Draft): Promise<void> | undefined {
    const { node, key } = draft;
    // Of what stood before, however that came, the values brought each other up: so they do again.
    if (node && this.input.restored?.has(node)) this.#expand(draft);
    else if (hasFamily(draft)) this.#expanding.push(draft);
    if (node?.available && !draft.lowered && !this.input.drifted.has(node)) return undefined;
    const count = this.view.dependentCount(key);
    if (isMany(count)) return this.#followMany(key);
    if (count > 0) for (const one of this.view.dependents(key)) this.#offer(one, key);
    return undefined;
  }

  async #followMany(key: string): Promise<void> {
    const { slices } = this.input;
    for (const one of await this.view.manyDependents(key, slices)) {
      if (slices.due()) await slices.turn();
      this.#offer(one, key);
    }
  }

  /** Tells a dependent that the key is there. */
  #offer(one: Node | Draft, key: string): void {
    const dependent = one instanceof Draft ? one : this.touch(one, { why: 'dependency met', key });
    if (dependent.up || !this.canRise(dependent)) return;
    if (!dependent.target) dependent.reason = { why: 'dependency met', key };
    this.raise(dependent);
  }

  #tellLost(key: string): void {
    const count = this.view.dependentCount(key);
    if (isMany(count)) this.#lostByMany.push(key);
    else if (count > 0) for (const one of this.view.dependents(key)) this.#lack(one, key);
  }

  /** Tells a dependent that the key is not there. */
  #lack(one: Node | Draft, key: string): void {
    if (one instanceof Draft) {
      if (one.up) this.doubt(one);
    } else if (one.actual !== undefined || this.drafts.has(one.key)) {
      const dependent = this.touch(one, { why: 'dependency lost', key });
      if (dependent.up) this.doubt(dependent);
    }
  }

  /** Brings what is derived from the value in line with it. */
  #expand(draft: Draft): void {
    if (hasFamily(draft)) for (const _ of this.#expansion(draft));
  }

  /** The same in steps. */
  *#expansion(draft: Draft): Generator<void, void, void> {
    const values = this.#derive(draft);
    const keep = new Set<string>();
    for (const { key, value } of values) {
      if (keep.has(key)) continue;
      yield;
      if (this.#deriveOne(draft, key, value)) keep.add(key);
    }
    for (const child of draft.newChildren) if (!keep.has(child.key)) this.#unwish(child);
    for (const node of draft.node?.derived ?? none) {
      yield;
      if (keep.has(node.key)) continue;
      const child = this.touch(node, { why: 'derived', from: draft.key });
      // Whoever takes a value over takes what is derived from it.
      child.foreign = draft.foreign;
      if (child.wish !== undefined || child.wanted !== undefined || child.up) this.#unwish(child);
    }
  }

  #derive(draft: Draft): Draft['derivedValues'] {
    if (!draft.up || draft.wish === undefined || !draft.descriptor?.derived) return none;
    // Only what the northbound or southbound itself names derives anything.
    if (draft.baseKey !== undefined) return none;
    if (draft.derivedOf === draft.wish) return draft.derivedValues;
    try {
      draft.derivedValues = draft.descriptor.derived(draft.key, draft.wish);
      draft.derivedOf = draft.wish;
      return draft.derivedValues;
    } catch (cause) {
      const { key } = draft;
      this.input.log.error({ key, error: errorText(cause) }, 'Descriptor cannot derive values');
      if (draft.foreign) return none;
      draft.invalid = new DescriptorContractError(errorText(cause), { where: key, cause });
      draft.up = false;
      this.#tellLost(key);
      return none;
    }
  }

  /** @returns false when the derived value cannot be taken */
  #deriveOne(base: Draft, key: string, value: Value | undefined): boolean {
    const node = this.input.graph.get(key);
    const drafted = this.drafts.get(key);
    const taken = drafted ? drafted.baseKey !== base.key : node && node.base?.key !== base.key;
    if (value === undefined || value === null || taken) {
      const { log } = this.input;
      log.warn({ key, from: base.key }, 'Derived value is empty or its key is taken: skipped');
      return false;
    }
    if (node && !drafted && !base.held && inSync(node, value, base.foreign)) return true;
    const child = drafted ?? this.#child(base, key, node);
    if (!child) return false;
    child.foreign = base.foreign;
    this.#wish(child, value);
    return true;
  }

  #child(base: Draft, key: string, node: Node | undefined): Draft | undefined {
    const reason: Reason = { why: 'derived', from: base.key };
    if (node) return this.touch(node, reason);
    try {
      const subject = { key, descriptor: this.input.registry.find(key) };
      const child = this.#add(new Draft(subject, undefined, base.key, false, reason));
      base.addChild(child);
      return child;
    } catch (thrown) {
      this.input.log.error({ key, error: errorText(thrown) }, 'Derived value is skipped');
      return undefined;
    }
  }
}

/** Whether something is derived from the value, or may be. */
function hasFamily({ descriptor, node, newChildren, baseKey }: Draft): boolean {
  if (newChildren.length > 0 || (node?.derived.size ?? 0) > 0) return true;
  return baseKey === undefined && descriptor?.derived !== undefined;
}

function aimOf({ unmanaged: foreign }: Target): 'notified' | 'changed' {
  return foreign ? 'notified' : 'changed';
}

/** An operation on it is due again. */
function isBroken({ state }: Node): boolean {
  return state === 'FAILED' || state === 'RETRYING' || state === 'MISSING';
}
