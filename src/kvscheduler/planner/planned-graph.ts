import type { Slices } from '#infra/clock/slices.ts';
import type { Dependency } from '../api/descriptor.ts';
import { DependencyIndex, type IsDone } from '../graph/dependency-index.ts';
import type { Graph } from '../graph/graph.ts';
import { KeyIndex } from '../graph/key-index.ts';
import type { Node } from '../graph/node.ts';
import { MatchFinder } from './match-finder.ts';
import type { PlannedValue } from './planned-value.ts';

const none: readonly never[] = [];

/** Whether a value has so many dependents or derived values that they are processed in slices. */
export function isMany(count: number): boolean {
  return count > 256;
}

/** Whether the key meets the dependency when its value is available. */
export function matches({ key, anyOf }: Dependency, candidate: string): boolean {
  if (key === candidate) return true;
  if (!anyOf?.prefixes.some((prefix) => candidate.startsWith(prefix))) return false;
  return anyOf.accepts?.(candidate) ?? true;
}

/** The graph as the plan leaves it: values of the plan as planned, all others as they are. */
export class PlannedGraph {
  /** All values of the plan, in the order in which they were reached: by their index. */
  readonly all: PlannedValue[] = [];
  /** The same by key. */
  readonly values = new Map<string, PlannedValue>();
  readonly #graph: Graph;
  /** Values whose dependencies differ from those that the graph has indexed, and … */
  readonly #dependents = new DependencyIndex<PlannedValue>();
  /** … those that are indexed here, by the index of the value. */
  readonly #indexed: (readonly Dependency[])[] = [];
  /** Keys of values that are not in the graph … */
  readonly #newKeys = new KeyIndex();
  /** … and those to be added to it when it is needed: most plans look for no prefix. */
  #unindexed: string[] = [];
  /** Derived values that are not in the graph, by their base. */
  readonly #newDerived = new Map<PlannedValue, PlannedValue[]>();
  readonly #available = this.finder((key) => this.isAvailable(key));

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  /** @param base the value that a new one is derived from */
  add(value: PlannedValue, base?: PlannedValue): void {
    this.all.push(value);
    this.#indexed.push(none);
    this.values.set(value.key, value);
    if (!value.node) this.#unindexed.push(value.key);
    if (!base) return;
    const siblings = this.#newDerived.get(base);
    if (siblings) siblings.push(value);
    else this.#newDerived.set(base, [value]);
  }

  /** Indexes a value by its dependencies. To be called whenever they change. */
  index(value: PlannedValue): void {
    const before = this.#indexed[value.index] as readonly Dependency[];
    const { dependencies } = value.goal;
    const indexed = dependencies === value.node?.indexed ? none : dependencies;
    if (before.length > 0) this.#dependents.delete(value, before);
    if (indexed.length > 0) this.#dependents.add(value, indexed);
    this.#indexed[value.index] = indexed;
  }

  /** Has `plannedDependents` find the value by the dependencies that the graph has indexed, too. */
  indexKnown(value: PlannedValue): void {
    const { node } = value;
    if (node && node.indexed.length > 0) this.#dependents.add(value, node.indexed);
  }

  /** Derived values of the base that are not in the graph yet. */
  newDerived(base: PlannedValue): readonly PlannedValue[] {
    return this.#newDerived.get(base) ?? none;
  }

  derivedCount(base: PlannedValue): number {
    return this.newDerived(base).length + (base.node?.derived.size ?? 0);
  }

  /** Whether the value is available when the plan has been executed. */
  isAvailable(key: string): boolean {
    const value = this.values.get(key);
    return value ? value.isAvailable : (this.#graph.get(key)?.available ?? false);
  }

  /** The number of dependents of the key, at most. */
  dependentCount(key: string, isDone?: IsDone): number {
    return this.#graph.dependentCount(key, isDone) + this.#dependents.count(key, isDone);
  }

  /** The prefixes of `anyOf` dependencies that the key meets. */
  prefixesOf(key: string): readonly string[] {
    const known = this.#graph.prefixesOf(key);
    const fresh = this.#dependents.prefixesOf(key);
    return fresh.length === 0 ? known : [...known, ...fresh];
  }

  /** Everything whose desired or actual value depends on the key. */
  dependents(key: string, isDone?: IsDone): readonly (Node | PlannedValue)[] {
    const nodes = this.#graph.dependents(key, isDone);
    const fresh = this.#dependents.find(key, isDone);
    if (nodes.length === 0) return fresh;
    return fresh.length === 0 ? nodes : [...nodes, ...fresh];
  }

  /** `dependents` for a key that has many. */
  async manyDependents(
    key: string,
    slices: Slices,
    isDone?: IsDone,
  ): Promise<readonly (Node | PlannedValue)[]> {
    const nodes = await this.#graph.dependentsInSlices(key, slices, isDone);
    const fresh = new Set<PlannedValue>();
    await this.#dependents.collectInSlices(key, fresh, slices, isDone);
    return [...nodes, ...fresh];
  }

  /** The number of `plannedDependents`, at most. */
  plannedCount(key: string, isDone?: IsDone): number {
    return this.#dependents.count(key, isDone);
  }

  /** Values of the plan with new dependencies, and those of `indexKnown`, that depend on the key. */
  plannedDependents(key: string, isDone?: IsDone): readonly PlannedValue[] {
    return this.#dependents.find(key, isDone);
  }

  /** Dependencies of the goal that are not met. */
  unmet(value: PlannedValue): Dependency[] {
    return value.goal.dependencies.filter((one) => !this.isMet(value, one));
  }

  isMet(value: PlannedValue, dependency: Dependency): boolean {
    return this.isSupported(value, dependency, this.#available);
  }

  /** The value has become available. */
  noteAvailable({ key }: PlannedValue): void {
    this.#available.gained(key);
  }

  /** Whether the prefix has an available key for every value that needs one. */
  servesAll(prefix: string): boolean {
    return this.#available.unserved(prefix) === undefined;
  }

  /** Finds keys of the graph and the plan that have a property. */
  finder(has: (key: string) => boolean): MatchFinder {
    const keysWithPrefix = (prefix: string, after?: string) => this.#keysWithPrefix(prefix, after);
    return new MatchFinder(keysWithPrefix, has, (key) => this.#baseKeyOf(key));
  }

  /**
   * Whether a key of the finder meets the value's dependency. What is derived from a value does not meet
   * the dependencies of that value.
   */
  isSupported(value: PlannedValue, dependency: Dependency, finder: MatchFinder): boolean {
    const isOwn =
      this.derivedCount(value) === 0
        ? undefined
        : (key: string): boolean => this.#baseKeyOf(key) === value.key;
    return finder.find(dependency, isOwn) !== undefined;
  }

  /** The first key with the property `has` that matches the dependency. */
  first({ key, anyOf }: Dependency, has: (key: string) => boolean): string | undefined {
    if (key !== undefined && has(key)) return key;
    if (!anyOf) return undefined;
    const fits = (one: string): boolean => (anyOf.accepts?.(one) ?? true) && has(one);
    let first: string | undefined;
    for (const prefix of anyOf.prefixes)
      for (const one of this.#keysWithPrefix(prefix)) {
        if (!fits(one)) continue;
        if (first === undefined || one < first) first = one;
        break;
      }
    return first;
  }

  /** In order: all, or those after one of them. */
  *#keysWithPrefix(prefix: string, after?: string): Generator<string, void, void> {
    for (const key of this.#unindexed) this.#newKeys.add(key);
    this.#unindexed = [];
    const fresh = this.#newKeys.withPrefix(prefix, after);
    let next = fresh.next();
    for (const known of this.#graph.keysWithPrefix(prefix, after)) {
      for (; !next.done && next.value < known; next = fresh.next()) yield next.value;
      yield known;
    }
    for (; !next.done; next = fresh.next()) yield next.value;
  }

  #baseKeyOf(key: string): string | undefined {
    return this.values.get(key)?.baseKey ?? this.#graph.get(key)?.base?.key;
  }
}
