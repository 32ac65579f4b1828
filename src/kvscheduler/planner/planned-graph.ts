import type { Slices } from '#infra/clock/slices.ts';
import type { Dependency } from '../api/descriptor.ts';
import { DependencyIndex, type IsDone } from '../graph/dependency-index.ts';
import type { Graph, Node } from '../graph/graph.ts';
import { KeyIndex } from '../graph/key-index.ts';
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
  /** Prefixes of which no key is available. */
  readonly #unavailable = new Set<string>();
  /** For a prefix: a key that met a dependency on it. It is tried first when another value is checked. */
  readonly #lastMet = new Map<string, string>();
  /** Dependents of keys that have many, in the order of their keys. */
  readonly #gathered = new Map<string, readonly Node[]>();

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
    return [...this.#graph.prefixesOf(key), ...this.#dependents.prefixesOf(key)];
  }

  /** Everything whose desired or actual value depends on the key. */
  dependents(key: string, isDone?: IsDone): readonly (Node | PlannedValue)[] {
    const nodes = this.#graph.dependents(key, isDone);
    const fresh = new Set<PlannedValue>();
    this.#dependents.collect(key, fresh, isDone);
    return fresh.size === 0 ? nodes : [...nodes, ...fresh];
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

  /** Nodes whose desired or actual value depends on the key; those of `gatherNodes` where it ran. */
  dependentNodes(key: string): readonly Node[] {
    return this.#gathered.get(key) ?? this.#graph.dependents(key);
  }

  async gatherNodes(key: string, slices: Slices): Promise<void> {
    if (!this.#gathered.has(key))
      this.#gathered.set(key, await this.#graph.dependentsInSlices(key, slices));
  }

  /** Dependencies of the goal that are not met. */
  unmet(value: PlannedValue): Dependency[] {
    return value.goal.dependencies.filter((one) => !this.isMet(value, one));
  }

  isMet(value: PlannedValue, dependency: Dependency): boolean {
    const { key, anyOf } = dependency;
    const isPlain = anyOf !== undefined && !anyOf.accepts;
    if (isPlain && anyOf.prefixes.every((prefix) => this.#unavailable.has(prefix)))
      return key !== undefined && this.isAvailable(key);
    const isMet = this.isSupported(value, dependency, (one) => this.isAvailable(one));
    if (isPlain && !isMet && this.derivedCount(value) === 0)
      for (const prefix of anyOf.prefixes) this.#unavailable.add(prefix);
    return isMet;
  }

  /** A value has become available. */
  noteAvailable(): void {
    if (this.#unavailable.size > 0) this.#unavailable.clear();
  }

  /**
   * Whether a key with the property `has` meets the value's dependency. What is derived from a value
   * does not meet the dependencies of that value.
   */
  isSupported(value: PlannedValue, dependency: Dependency, has: (key: string) => boolean): boolean {
    const hasNoDerived = this.derivedCount(value) === 0;
    const supports = (key: string): boolean =>
      has(key) && (hasNoDerived || this.#baseKeyOf(key) !== value.key);
    const { anyOf } = dependency;
    if (!anyOf) return dependency.key !== undefined && supports(dependency.key);
    for (const prefix of anyOf.prefixes) {
      const last = this.#lastMet.get(prefix);
      if (last !== undefined && (anyOf.accepts?.(last) ?? true) && supports(last)) return true;
    }
    const first = this.first(dependency, supports);
    if (first === undefined) return false;
    for (const prefix of anyOf.prefixes)
      if (first.startsWith(prefix)) this.#lastMet.set(prefix, first);
    return true;
  }

  /** The first key with the property `has` that matches the dependency. */
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
      for (const fresh of this.#newKeysWithPrefix(prefix)) {
        if (!fits(fresh)) continue;
        if (first === undefined || fresh < first) first = fresh;
        break;
      }
    }
    return first;
  }

  #newKeysWithPrefix(prefix: string): Iterable<string> {
    for (const key of this.#unindexed) this.#newKeys.add(key);
    this.#unindexed = [];
    return this.#newKeys.withPrefix(prefix);
  }

  #baseKeyOf(key: string): string | undefined {
    return this.values.get(key)?.baseKey ?? this.#graph.get(key)?.base?.key;
  }
}
