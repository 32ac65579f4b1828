import type { Slices } from '#infra/clock/slices.ts';
import type { Dependency } from '../api/descriptor.ts';
import { DependencyIndex } from '../graph/dependency-index.ts';
import type { Graph, Node } from '../graph/graph.ts';
import { KeyIndex } from '../graph/key-index.ts';
import type { Draft } from './planned-value.ts';

/** Whether so many depend on a value, or are derived from it, that it takes slices to go on. */
export function isMany(count: number): boolean {
  return count > 256;
}

/** Whether the key meets the dependency when it is there. */
export function names({ key, anyOf }: Dependency, candidate: string): boolean {
  if (key === candidate) return true;
  if (!anyOf?.prefixes.some((prefix) => candidate.startsWith(prefix))) return false;
  return anyOf.accepts?.(candidate) ?? true;
}

/** The graph as the plan would leave it: what has a draft counts as drafted, the rest as it is. */
export class PlannedView {
  /** Everything that the plan looks at more closely, in the order in which it came up. */
  readonly drafts = new Map<string, Draft>();
  readonly #graph: Graph;
  /** Drafts whose dependencies differ from what the graph has indexed. */
  readonly #dependents = new DependencyIndex<Draft>();
  /** Keys of drafts that the graph does not know. */
  readonly #newKeys = new KeyIndex();
  /** Nodes that depend on a key on which many do, in the order of their keys. */
  readonly #gathered = new Map<string, readonly Node[]>();

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  add(draft: Draft): void {
    this.drafts.set(draft.key, draft);
    if (!draft.node) this.#newKeys.add(draft.key);
  }

  /** To be called whenever the dependencies of a draft have become others. */
  index(draft: Draft): void {
    this.#dependents.delete(draft, draft.indexed);
    draft.indexed = draft.dependencies === draft.node?.indexed ? [] : draft.dependencies;
    this.#dependents.add(draft, draft.indexed);
  }

  /** Whether the value is available when the plan has been carried out. */
  isUp(key: string): boolean {
    const draft = this.drafts.get(key);
    return draft ? draft.up : (this.#graph.get(key)?.available ?? false);
  }

  /** How many depend on the key, at most. */
  dependentCount(key: string): number {
    return this.#graph.dependentCount(key) + this.#dependents.count(key);
  }

  /** Everyone whose wish or actual value depends on the key. */
  dependents(key: string): readonly (Node | Draft)[] {
    const nodes = this.#graph.dependents(key);
    const fresh = new Set<Draft>();
    this.#dependents.collect(key, fresh);
    return fresh.size === 0 ? nodes : [...nodes, ...fresh];
  }

  /** The same where they are many. */
  async manyDependents(key: string, slices: Slices): Promise<readonly (Node | Draft)[]> {
    await this.gatherNodes(key, slices);
    const fresh = new Set<Draft>();
    await this.#dependents.collectInSlices(key, fresh, slices);
    return [...this.dependentNodes(key), ...fresh];
  }

  /** Everyone in the graph whose wish or actual value depends on the key, as gathered if they are. */
  dependentNodes(key: string): readonly Node[] {
    return this.#gathered.get(key) ?? this.#graph.dependents(key);
  }

  async gatherNodes(key: string, slices: Slices): Promise<void> {
    if (!this.#gathered.has(key))
      this.#gathered.set(key, await this.#graph.dependentsInSlices(key, slices));
  }

  /** The wish's dependencies that are not met. */
  unmet(draft: Draft): Dependency[] {
    return draft.dependencies.filter((one) => !this.isMet(draft, one));
  }

  isMet(draft: Draft, dependency: Dependency): boolean {
    return this.support(draft, dependency, (key) => this.isUp(key)) !== undefined;
  }

  /**
   * The first key that meets the draft's dependency, if a key with this property does. Nothing
   * rests on what is derived from itself.
   */
  support(draft: Draft, dependency: Dependency, has: (key: string) => boolean): string | undefined {
    const derives = draft.newChildren.length > 0 || (draft.node?.derived.size ?? 0) > 0;
    if (!derives) return this.first(dependency, has);
    return this.first(dependency, (key) => has(key) && this.#baseKeyOf(key) !== draft.key);
  }

  /** The first key that the dependency names and that has the property. */
  first({ key, anyOf }: Dependency, has: (key: string) => boolean): string | undefined {
    if (key !== undefined && has(key)) return key;
    if (!anyOf) return undefined;
    const fits = (one: string): boolean => (anyOf.accepts?.(one) ?? true) && has(one);
    let first: string | undefined;
    for (const prefix of anyOf.prefixes) {
      for (const known of this.#graph.withPrefix(prefix)) {
        if (!fits(known.key)) continue;
        if (first === undefined || known.key < first) first = known.key;
        break;
      }
      for (const fresh of this.#newKeys.withPrefix(prefix)) {
        if (!fits(fresh)) continue;
        if (first === undefined || fresh < first) first = fresh;
        break;
      }
    }
    return first;
  }

  #baseKeyOf(key: string): string | undefined {
    return this.drafts.get(key)?.baseKey ?? this.#graph.get(key)?.base?.key;
  }
}
