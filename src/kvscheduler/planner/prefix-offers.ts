import type { PlanInput } from './input.ts';
import type { MatchFinder } from './match-finder.ts';
import type { PlannedGraph } from './planned-graph.ts';
import type { PlannedValue } from './planned-value.ts';

const none: readonly never[] = [];

/**
 * Knows of which prefixes a plan need not visit the dependents, because the key that becomes available,
 * or is lost, changes nothing for them: another key of the prefix meets their dependencies.
 */
export class PrefixOffers {
  readonly #input: PlanInput;
  readonly #graph: PlannedGraph;
  readonly #lowered: ReadonlySet<PlannedValue>;
  /** Prefixes whose dependents were offered a key, and that key. */
  readonly #offered = new Map<string, string>();
  /** Finds values that were available before the transaction and still are. */
  readonly #stable: MatchFinder;

  /** @param lowered values that were taken out once */
  constructor(input: PlanInput, graph: PlannedGraph, lowered: ReadonlySet<PlannedValue>) {
    this.#input = input;
    this.#graph = graph;
    this.#lowered = lowered;
    this.#stable = graph.finder((key) => this.#isStableKey(key));
  }

  /** The dependents were offered a key, or need none: an additional one changes nothing. */
  readonly isServed = (prefix: string): boolean => this.#isOffered(prefix) || this.isStable(prefix);

  /** A key of the prefix was and is available: its dependents wait for something else. */
  readonly isStable = (prefix: string): boolean => this.#stable.unserved(prefix) === undefined;

  /** A key of the prefix is available: its dependents do not need one that is lost. */
  readonly isKept = (prefix: string): boolean => this.#graph.servesAll(prefix);

  /** The dependents of the key's prefixes were offered the key. */
  note(key: string): void {
    for (const prefix of this.#graph.prefixesOf(key))
      if (!this.#isOffered(prefix)) this.#offered.set(prefix, key);
  }

  /** The key is not available any more. */
  forget(key: string): void {
    for (const prefix of this.#offered.size > 0 ? this.#graph.prefixesOf(key) : none)
      if (this.#offered.get(prefix) === key) this.#offered.delete(prefix);
  }

  #isOffered(prefix: string): boolean {
    const key = this.#offered.get(prefix);
    return key !== undefined && this.#graph.isAvailable(key);
  }

  #isStableKey(key: string): boolean {
    const { graph, drifted } = this.#input;
    const node = graph.get(key);
    if (!node?.available || drifted.has(node)) return false;
    const value = this.#graph.values.get(key);
    return !value || (value.isAvailable && !this.#lowered.has(value));
  }
}
