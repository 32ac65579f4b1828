/**
 * Who gets a claimed resource that more than one value wants: whoever cannot be moved, then whoever
 * has it, then the first by key. The others stay out until it is free.
 */
import { claimsOf } from '../graph.ts';
import type { Draft } from './draft.ts';
import type { Resolver } from './resolve.ts';

/**
 * Takes the losers out, lets those in whose winner has fallen, wakes those who waited.
 * @returns whether anything moved, so that the rest has to be settled again
 */
export function arbitrate(resolver: Resolver): boolean {
  if (resolver.claimants.size === 0 && resolver.input.moved.size === 0) return false;
  const takers = takersByName(resolver);
  return (
    takeLosersOut(resolver, takers) || revive(resolver, takers) || wakeWaiters(resolver, takers)
  );
}

type Takers = ReadonlyMap<string, readonly Draft[]>;

function takersByName(resolver: Resolver): Takers {
  const takers = new Map<string, Draft[]>();
  for (const draft of resolver.claimants) {
    if (!draft.up) continue;
    for (const name of claimsOf(draft, draft.wish)) {
      const others = takers.get(name);
      if (others) others.push(draft);
      else takers.set(name, [draft]);
    }
  }
  return takers;
}

function takeLosersOut(resolver: Resolver, takers: Takers): boolean {
  let moved = false;
  for (const [name, drafts] of takers) {
    const unmoved = unmovedHolder(resolver, name);
    const rivals = drafts.filter(({ up, key }) => up && key !== unmoved);
    if (rivals.length + (unmoved === undefined ? 0 : 1) < 2) continue;
    const winner = unmoved ?? best(rivals, name).key;
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

function best(rivals: readonly Draft[], name: string): Draft {
  return rivals.reduce((winner, rival) => {
    const difference = rank(rival, name) - rank(winner, name);
    if (difference !== 0) return difference < 0 ? rival : winner;
    return rival.key < winner.key ? rival : winner;
  });
}

function rank(draft: Draft, name: string): number {
  if (draft.node && claimsOf(draft, draft.node.actual).includes(name)) return 0;
  return draft.revived ? 1 : 2;
}

function isFree(resolver: Resolver, takers: Takers, name: string): boolean {
  if (takers.get(name)?.some(({ up }) => up)) return false;
  return unmovedHolder(resolver, name) === undefined;
}

function revive(resolver: Resolver, takers: Takers): boolean {
  let moved = false;
  for (const draft of resolver.claimants) {
    if (!draft.blocked || draft.revived || !isFree(resolver, takers, draft.blocked.name)) continue;
    draft.revived = true;
    draft.blocked = undefined;
    if (!resolver.canRise(draft)) continue;
    resolver.raise(draft);
    moved = true;
  }
  return moved;
}

function wakeWaiters(resolver: Resolver, takers: Takers): boolean {
  const { graph } = resolver.input;
  let moved = false;
  for (const name of namesThatMayBeFree(resolver)) {
    if (!isFree(resolver, takers, name)) continue;
    for (const waiter of graph.waiters(name)) {
      const draft = resolver.touch(waiter, { why: 'claim', name });
      if (draft.up || draft.woken || !resolver.canRise(draft)) continue;
      draft.woken = true;
      resolver.raise(draft);
      moved = true;
    }
  }
  return moved;
}

/** What the plan may give up; and, where the southbound was read, all that somebody waits for. */
function namesThatMayBeFree({ claimants, input }: Resolver): Set<string> {
  const names = new Set<string>();
  for (const { node } of claimants)
    if (node) for (const name of claimsOf(node, node.actual)) names.add(name);
  if (input.moved.size > 0) for (const name of input.graph.awaitedNames()) names.add(name);
  return names;
}
