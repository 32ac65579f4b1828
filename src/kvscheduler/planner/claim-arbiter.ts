/**
 * Who gets a claimed resource that more than one value wants: whoever cannot be moved, then whoever
 * has it, then the first by key. The others stay out until it is free.
 */

import { byKey } from '../graph/by-key.ts';
import type { Node } from '../graph/graph.ts';
import { Draft } from './planned-value.ts';
import type { Resolver } from './resolver.ts';

/**
 * Takes the losers out, lets those in whose winner has fallen, wakes those who waited.
 * @returns whether anything moved, so that the rest has to be settled again
 */
export async function arbitrate(resolver: Resolver): Promise<boolean> {
  if (resolver.claimants.size === 0 && resolver.input.drifted.size === 0) return false;
  const takers = await takersByName(resolver);
  if (await takeLosersOut(resolver, takers)) return true;
  if (await revive(resolver, takers)) return true;
  return wakeWaiters(resolver, takers);
}

/** Most names have one taker; more stand in a list. */
type Takers = ReadonlyMap<string, Draft | readonly Draft[]>;

const nobody: readonly Draft[] = [];

function takersOf(takers: Takers, name: string): readonly Draft[] {
  const found = takers.get(name) ?? nobody;
  return found instanceof Draft ? [found] : found;
}

async function takersByName(resolver: Resolver): Promise<Takers> {
  const { slices } = resolver.input;
  const takers = new Map<string, Draft | Draft[]>();
  for (const draft of resolver.claimants) {
    if (slices.due()) await slices.turn();
    if (!draft.up) continue;
    for (const name of draft.claims) {
      const others = takers.get(name);
      if (others === undefined) takers.set(name, draft);
      else if (others instanceof Draft) takers.set(name, [others, draft]);
      else others.push(draft);
    }
  }
  return takers;
}

async function takeLosersOut(resolver: Resolver, takers: Takers): Promise<boolean> {
  const { slices } = resolver.input;
  let moved = false;
  for (const [name, found] of takers) {
    if (slices.due()) await slices.turn();
    // most names have one taker, and no other holder
    if (found instanceof Draft && !resolver.input.graph.isClaimedByOther(found.node, name))
      continue;
    const unmoved = unmovedHolder(resolver, name);
    const drafts = takersOf(takers, name);
    const rivals = drafts.filter(({ up, key }) => up && key !== unmoved);
    if (rivals.length + (unmoved === undefined ? 0 : 1) < 2) continue;
    const winner = unmoved ?? best(rivals, name, resolver.input.restored).key;
    for (const rival of rivals) {
      if (rival.key === winner || rival.held) continue;
      rival.blocked = { name, by: winner };
      resolver.lower(rival);
      moved = true;
    }
  }
  return moved;
}

/** Key of a value that holds the name and that the plan does not or may not move. */
function unmovedHolder({ drafts, input }: Resolver, name: string): string | undefined {
  for (const { key } of input.graph.holders(name)) {
    const draft = drafts.get(key);
    if (!draft || draft.held) return key;
  }
  return undefined;
}

function best(
  rivals: readonly Draft[],
  name: string,
  restored: ReadonlySet<Node> | undefined,
): Draft {
  return rivals.reduce((winner, rival) =>
    (precedence(rival, winner, name, restored) || byKey(rival, winner)) < 0 ? rival : winner,
  );
}

/**
 * Below zero: `a` goes before `b`. Who came in because the other could not stay without it stays:
 * else the other would rise and fall again, and nobody had the claim. When a transaction is undone,
 * who was there before it goes before who was not.
 */
function precedence(
  a: Draft,
  b: Draft,
  name: string,
  restored: ReadonlySet<Node> | undefined,
): number {
  const outlived = Number(hasOutlived(b, a.key)) - Number(hasOutlived(a, b.key));
  if (outlived !== 0) return outlived;
  const wasThere = ({ node }: Draft): number => (node && restored?.has(node) ? 0 : 1);
  return wasThere(a) - wasThere(b) || rank(a, name) - rank(b, name);
}

function hasOutlived({ outlived }: Draft, key: string): boolean {
  return outlived?.has(key) ?? false;
}

function rank(draft: Draft, name: string): number {
  return draft.node?.claims.includes(name) ? 0 : 1;
}

function isFree(resolver: Resolver, takers: Takers, name: string): boolean {
  if (takersOf(takers, name).some(({ up }) => up)) return false;
  return unmovedHolder(resolver, name) === undefined;
}

async function revive(resolver: Resolver, takers: Takers): Promise<boolean> {
  const { slices } = resolver.input;
  let moved = false;
  for (const draft of resolver.claimants) {
    if (slices.due()) await slices.turn();
    const { blocked } = draft;
    if (!blocked || hasOutlived(draft, blocked.by)) continue;
    if (!isFree(resolver, takers, blocked.name)) continue;
    draft.outlived ??= new Set();
    draft.outlived.add(blocked.by);
    draft.blocked = undefined;
    if (!resolver.canRise(draft)) continue;
    resolver.raise(draft);
    moved = true;
  }
  return moved;
}

async function wakeWaiters(resolver: Resolver, takers: Takers): Promise<boolean> {
  const { graph, slices } = resolver.input;
  let moved = false;
  for (const name of await namesToBeHad(resolver, takers)) {
    if (slices.due()) await slices.turn();
    // A newcomer does not go before somebody who waits: the next round decides between them.
    const isKept = takersOf(takers, name).some((draft) => draft.up && rank(draft, name) === 0);
    if (isKept || unmovedHolder(resolver, name) !== undefined) continue;
    for (const waiter of graph.waiters(name)) {
      const isMet = resolver.drafts.has(waiter.key);
      const draft = resolver.touch(waiter, { why: 'claim', name });
      if (draft.up ? isMet : draft.woken || !resolver.canRise(draft)) continue;
      draft.woken = true;
      // What is overdue has risen when it was met.
      if (!draft.up) resolver.raise(draft);
      moved = true;
    }
  }
  return moved;
}

/** Of what somebody waits for: what the plan may give up or take; where the southbound was read, all. */
async function namesToBeHad(
  { claimants, input }: Resolver,
  takers: Takers,
): Promise<Iterable<string>> {
  const { graph, drifted: moved, slices } = input;
  if (moved.size > 0) return [...graph.awaitedNames()];
  const names = new Set<string>();
  if (!graph.isAwaited()) return names;
  for (const { node } of claimants) {
    if (slices.due()) await slices.turn();
    if (!node) continue;
    for (const name of node.claims) if (graph.isAwaited(name)) names.add(name);
  }
  for (const name of takers.keys()) {
    if (slices.due()) await slices.turn();
    if (graph.isAwaited(name)) names.add(name);
  }
  return names;
}
