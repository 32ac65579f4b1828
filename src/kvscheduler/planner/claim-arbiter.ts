/**
 * Decides which value gets a claim that several values need: one that cannot be moved, else the one
 * that has it, else the first by key. The others are blocked until it is free.
 */

import { byKey } from '../graph/by-key.ts';
import type { PlannedValue } from './planned-value.ts';
import type { Resolver } from './resolver.ts';

/** Most claims have one taker: an array is allocated for more only. */
type Takers = ReadonlyMap<string, OneOrMore>;
type OneOrMore = PlannedValue | readonly PlannedValue[];

const none: readonly never[] = [];

export class ClaimArbiter {
  readonly #resolver: Resolver;
  /** Keys of values to which a value lost a claim and that could not exist without it. */
  readonly #outlived = new Map<PlannedValue, Set<string>>();
  /** Values that were raised once because a claim that they wait for is released. */
  readonly #woken = new Set<PlannedValue>();

  constructor(resolver: Resolver) {
    this.#resolver = resolver;
  }

  /**
   * Takes out the losers, raises values whose winner was taken out, and those that waited for a claim.
   * @returns whether anything changed, so that the resolver has to settle again
   */
  async arbitrate(): Promise<boolean> {
    const { claimants, input } = this.#resolver;
    if (claimants.size === 0 && input.drifted.size === 0) return false;
    const takers = await this.#takersByClaim();
    if (await this.#lowerLosers(takers)) return true;
    if (await this.#revive(takers)) return true;
    return this.#wakeWaiters(takers);
  }

  async #takersByClaim(): Promise<Takers> {
    const { claimants, input } = this.#resolver;
    const { slices } = input;
    const takers = new Map<string, PlannedValue | PlannedValue[]>();
    for (const value of claimants) {
      if (slices.due()) await slices.turn();
      if (!value.isAvailable) continue;
      for (const claim of value.claims) {
        const others = takers.get(claim);
        if (others === undefined) takers.set(claim, value);
        else if (Array.isArray(others)) others.push(value);
        else takers.set(claim, [others, value]);
      }
    }
    return takers;
  }

  async #lowerLosers(takers: Takers): Promise<boolean> {
    const resolver = this.#resolver;
    const { graph, slices } = resolver.input;
    let changed = false;
    for (const [claim, found] of takers) {
      if (slices.due()) await slices.turn();
      // Most claims have one taker and no other holder.
      if (!isList(found) && !graph.isClaimedByOther(found.node, claim)) continue;
      const unmoved = this.#unmovedHolder(claim);
      const rivals = takersOf(takers, claim).filter(
        ({ isAvailable, key }) => isAvailable && key !== unmoved,
      );
      if (rivals.length + (unmoved === undefined ? 0 : 1) < 2) continue;
      const winner = unmoved ?? this.#best(rivals, claim).key;
      for (const rival of rivals) {
        if (rival.key === winner || rival.isBlocked) continue;
        resolver.lowerByClaim(rival, claim, winner);
        changed = true;
      }
    }
    return changed;
  }

  /** Key of a value that has the claim and that the plan does not or cannot change. */
  #unmovedHolder(claim: string): string | undefined {
    const { graph, input } = this.#resolver;
    for (const { key } of input.graph.holders(claim)) {
      const value = graph.values.get(key);
      if (!value || value.isBlocked) return key;
    }
    return undefined;
  }

  #best(rivals: readonly PlannedValue[], claim: string): PlannedValue {
    return rivals.reduce((winner, rival) =>
      (this.#precedence(rival, winner, claim) || byKey(rival, winner)) < 0 ? rival : winner,
    );
  }

  /**
   * Below zero: `a` has precedence. A value that outlived its rival keeps the claim: otherwise the
   * rival would be raised and lowered in turns, and neither had it. When a transaction is undone, a
   * value that existed before it has precedence.
   */
  #precedence(a: PlannedValue, b: PlannedValue, claim: string): number {
    const outlived = Number(this.#hasOutlived(b, a.key)) - Number(this.#hasOutlived(a, b.key));
    if (outlived !== 0) return outlived;
    const { restored } = this.#resolver.input;
    const wasAvailable = ({ node }: PlannedValue): number => (node && restored?.has(node) ? 0 : 1);
    return wasAvailable(a) - wasAvailable(b) || rank(a, claim) - rank(b, claim);
  }

  #hasOutlived(value: PlannedValue, key: string): boolean {
    return this.#outlived.get(value)?.has(key) ?? false;
  }

  #isFree(takers: Takers, claim: string): boolean {
    if (takersOf(takers, claim).some(({ isAvailable }) => isAvailable)) return false;
    return this.#unmovedHolder(claim) === undefined;
  }

  /** Raises values that lost a claim to one that cannot exist. */
  async #revive(takers: Takers): Promise<boolean> {
    const resolver = this.#resolver;
    const { slices } = resolver.input;
    let changed = false;
    for (const value of resolver.claimants) {
      if (slices.due()) await slices.turn();
      const { phase } = value;
      if (phase.state !== 'blocked' || phase.reason !== 'claim taken') continue;
      if (this.#hasOutlived(value, phase.by) || !this.#isFree(takers, phase.claim)) continue;
      const outlived = this.#outlived.get(value) ?? new Set();
      this.#outlived.set(value, outlived.add(phase.by));
      resolver.unblock(value);
      if (!resolver.canRise(value)) continue;
      resolver.raise(value);
      changed = true;
    }
    return changed;
  }

  /** Raises pending values that wait for a claim that the plan releases. */
  async #wakeWaiters(takers: Takers): Promise<boolean> {
    const resolver = this.#resolver;
    const { graph, slices } = resolver.input;
    let changed = false;
    for (const claim of await this.#claimsInPlay(takers)) {
      if (slices.due()) await slices.turn();
      // A new value has no precedence over a waiting one: the next round decides between them.
      const isKept = takersOf(takers, claim).some(
        (value) => value.isAvailable && rank(value, claim) === 0,
      );
      if (isKept || this.#unmovedHolder(claim) !== undefined) continue;
      for (const waiter of graph.waiters(claim)) {
        const isKnown = resolver.graph.values.has(waiter.key);
        const value = resolver.touch(waiter, { why: 'claim', name: claim });
        const isSettled = this.#woken.has(value) || !resolver.canRise(value);
        if (value.isAvailable ? isKnown : isSettled) continue;
        this.#woken.add(value);
        // A value that is out of sync was raised when it was touched.
        if (!value.isAvailable) resolver.raise(value);
        changed = true;
      }
    }
    return changed;
  }

  /**
   * Claims that pending values wait for and that the plan may release or take; all that they wait for
   * if the southbound was read.
   */
  async #claimsInPlay(takers: Takers): Promise<Iterable<string>> {
    const { claimants, input } = this.#resolver;
    const { graph, drifted, slices } = input;
    if (drifted.size > 0) return [...graph.awaitedNames()];
    const claims = new Set<string>();
    if (!graph.isAwaited()) return claims;
    for (const { node } of claimants) {
      if (slices.due()) await slices.turn();
      if (!node) continue;
      for (const claim of node.claims) if (graph.isAwaited(claim)) claims.add(claim);
    }
    for (const claim of takers.keys()) {
      if (slices.due()) await slices.turn();
      if (graph.isAwaited(claim)) claims.add(claim);
    }
    return claims;
  }
}

function isList(found: OneOrMore): found is readonly PlannedValue[] {
  return Array.isArray(found);
}

function takersOf(takers: Takers, claim: string): readonly PlannedValue[] {
  const found = takers.get(claim) ?? none;
  return isList(found) ? found : [found];
}

/** 0 for a value that has the claim already. */
function rank({ node }: PlannedValue, claim: string): number {
  return node?.claims.includes(claim) ? 0 : 1;
}
