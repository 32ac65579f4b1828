/**
 * The scheduler's knowledge: one node per value, with its desired and its actual state, and the
 * relations between nodes. Lookups use an index; none iterates over all values.
 */

import { type Slices, sortInSlices } from '#infra/clock/slices.ts';
import { ShardedMap } from '#infra/collections/sharded-map.ts';
import type { IndexMap } from '#infra/idxmap/idxmap.ts';
import type { AnyDescriptor, Dependency } from '../api/descriptor.ts';
import type { Value } from '../api/transaction.ts';
import { byKey } from './by-key.ts';
import { ContendedKeys } from './contended-keys.ts';
import { DependencyIndex, type IsDone } from './dependency-index.ts';
import { deepEqual } from './equality.ts';
import { KeyIndex } from './key-index.ts';
import { claimsOf, Node, writable } from './node.ts';
import { addItem, deleteItem, itemsOf, type OneOrMany } from './one-or-many.ts';

const none: readonly never[] = [];

/** The graph for everything but its writer. */
export type Graph = Omit<
  WritableGraph,
  keyof Writers | 'rejected' | 'blocked' | 'withUnknownOutcome' | 'contended'
> & {
  readonly rejected: ReadonlySet<Node>;
  readonly blocked: ReadonlySet<Node>;
  readonly withUnknownOutcome: ReadonlySet<Node>;
  readonly contended: Pick<ContendedKeys, 'free' | 'has'>;
};

type Writers = Pick<
  WritableGraph,
  | 'add'
  | 'remove'
  | 'setDesired'
  | 'setDerivedDependencies'
  | 'setActual'
  | 'setMetadata'
  | 'setFailed'
  | 'setNotFailed'
  | 'setOutcomeUnknown'
  | 'setOutcomeKnown'
  | 'setAwaitedClaims'
>;

export class WritableGraph {
  /** Number of node lookups: the unit in which tests measure the cost of a transaction. */
  visits = 0;
  /** Number of index lookups. */
  lookUps = 0;
  /** Number of desired and actual values that were set. */
  changes = 0;
  /** Nodes whose last operation has an unknown outcome. */
  readonly withUnknownOutcome = new Set<Node>();
  /** Nodes in the states INVALID and UNIMPLEMENTED. */
  readonly rejected = new Set<Node>();
  /** Nodes with an operation that a failed one blocked; for some it may not be necessary any more. */
  readonly blocked = new Set<Node>();
  readonly contended: ContendedKeys;
  readonly #nodes = new Map<string, Node>();
  readonly #keys = new KeyIndex();
  readonly #dependents = new DependencyIndex<Node>();
  readonly #prospects = new DependencyIndex<Node>();
  readonly #holders = new ShardedMap<OneOrMany<Node>>();
  readonly #waiters = new Map<string, OneOrMany<Node>>();
  readonly #failed = new Set<Node>();
  /** The same by the value that they are derived from, or are. */
  readonly #failedByRoot = new Map<Node, OneOrMany<Node>>();
  /** The values that the nodes of unknown outcome may have. */
  readonly #possible = new Map<Node, Value>();
  readonly #metadata: ReadonlyMap<string, IndexMap<unknown>>;
  #withNewMetadata: Node[] = [];

  /** @param metadata the map of each descriptor by its name, kept up to date by the graph */
  constructor(
    metadata: ReadonlyMap<string, IndexMap<unknown>>,
    contended: ContendedKeys = new ContendedKeys(),
  ) {
    this.#metadata = metadata;
    this.contended = contended;
  }

  get size(): number {
    return this.#nodes.size;
  }

  get(key: string): Node | undefined {
    this.visits++;
    return this.#nodes.get(key);
  }

  /** Nodes whose last operation failed: those in the states FAILED and RETRYING. */
  get failed(): ReadonlySet<Node> {
    return this.#failed;
  }

  /** Those of a base value: itself, and what is derived from it. */
  failedOf(root: Node): Iterable<Node> {
    return itemsOf(this.#failedByRoot.get(root));
  }

  /** Whether it failed, is blocked or is out of sync: it may be what blocks others. */
  mayBlockOthers(node: Node): boolean {
    return node.outOfSync || this.#failed.has(node) || this.blocked.has(node);
  }

  /** All nodes in the order in which they were added. */
  all(): Iterable<Node> {
    return this.#nodes.values();
  }

  /** The keys of `withPrefix`, or those after one of them. */
  keysWithPrefix(prefix: string, after?: string): Iterable<string> {
    this.lookUps++;
    return this.#keys.withPrefix(prefix, after);
  }

  *withPrefix(prefix: string): Generator<Node, void, void> {
    this.lookUps++;
    for (const key of this.#keys.withPrefix(prefix)) yield this.get(key) as Node;
  }

  /**
   * `withPrefix` for readers that yield to the event loop in between: a node that stays in the graph is
   * returned once.
   * @param after a key with the prefix: only those after it
   */
  *stepwise(prefix: string, after?: string): Generator<Node, void, void> {
    for (let keys = this.#keys.next(prefix, after); keys.length > 0; ) {
      for (const key of keys) {
        const node = this.#nodes.get(key);
        if (node) yield node;
      }
      keys = this.#keys.next(prefix, keys.at(-1));
    }
  }

  /** `get` for reports: it does not count as a visit. */
  peek(key: string): Node | undefined {
    return this.#nodes.get(key);
  }

  /** Nodes whose metadata changed since the last call, some more than once. */
  takeNodesWithNewMetadata(): readonly Node[] {
    const nodes = this.#withNewMetadata;
    this.#withNewMetadata = [];
    return nodes;
  }

  /** Nodes with a desired or actual dependency that the key meets, in the order of their keys. */
  dependents(key: string, isDone?: IsDone): readonly Node[] {
    this.lookUps++;
    const found = this.#dependents.find(key, isDone);
    this.visits += found.length;
    return found.length < 2 ? found : found.toSorted(byKey);
  }

  /** The number of nodes that `dependents` finds, at most. */
  dependentCount(key: string, isDone?: IsDone): number {
    this.lookUps++;
    return this.#dependents.count(key, isDone);
  }

  /** The prefixes of `anyOf` dependencies that the key meets. */
  prefixesOf(key: string): readonly string[] {
    return this.#dependents.prefixesOf(key);
  }

  /** `dependents` for a key that has many; the caller counts the visits. */
  async dependentsInSlices(key: string, slices: Slices, isDone?: IsDone): Promise<Node[]> {
    this.lookUps++;
    const found = new Set<Node>();
    await this.#dependents.collectInSlices(key, found, slices, isDone);
    return sortInSlices([...found], byKey, slices);
  }

  /** The number of nodes that `prospects` finds, at most. */
  prospectCount(key: string, isDone?: IsDone): number {
    this.lookUps++;
    return this.#prospects.count(key, isDone);
  }

  /** Base nodes that are not available and whose derived values would depend on the key. */
  prospects(key: string, isDone?: IsDone): readonly Node[] {
    const found = this.#prospects.find(key, isDone);
    this.visits += found.length;
    return found.toSorted(byKey);
  }

  /** Nodes whose actual value has the claim. */
  holders(name: string): Iterable<Node> {
    this.lookUps++;
    return itemsOf(this.#holders.get(name));
  }

  /** Whether the actual value of another node has the claim. */
  isClaimedByOther(node: Node | undefined, name: string): boolean {
    this.lookUps++;
    const holders = this.#holders.get(name);
    return holders !== undefined && holders !== node;
  }

  /** Pending nodes that wait for the claim. */
  waiters(name: string): Iterable<Node> {
    this.lookUps++;
    return itemsOf(this.#waiters.get(name));
  }

  /** Whether a pending node waits for the claim; without a name: for any claim. */
  isAwaited(name?: string): boolean {
    return name === undefined ? this.#waiters.size > 0 : this.#waiters.has(name);
  }

  /** Claims that pending nodes wait for. */
  awaitedNames(): Iterable<string> {
    return this.#waiters.keys();
  }

  /** A graph with copies of the nodes, on which a plan can be tried out. Metadata maps do not follow it. */
  async copy(slices: Slices): Promise<WritableGraph> {
    const copy = new WritableGraph(new Map(), this.contended.copy());
    for (const node of this.#nodes.values()) {
      if (slices.due()) await slices.turn();
      copy.#addCopy(node);
    }
    const copyOf = ({ key }: Node): Node => copy.#nodes.get(key) as Node;
    await slices.each([...this.#failed], (node) => copy.setFailed(copyOf(node)));
    await slices.each([...this.rejected], (node) => copy.rejected.add(copyOf(node)));
    await slices.each([...this.blocked], (node) => copy.blocked.add(copyOf(node)));
    await slices.each([...this.#possible], ([node, value]) =>
      copy.setOutcomeUnknown(copyOf(node), value),
    );
    return copy;
  }

  /** A base was added before what is derived from it. */
  #addCopy(node: Node): void {
    const { key, descriptor } = node;
    const copy = this.add(key, descriptor, node.base && this.#nodes.get(node.base.key));
    const { base, derived } = copy;
    Object.assign(copy, node, { base, derived });
    this.#dependents.add(copy, copy.indexed);
    this.#prospects.add(copy, copy.derivedDependencies);
    for (const name of copy.claims) addItem(this.#holders, name, copy);
    for (const name of copy.awaitedClaims) addItem(this.#waiters, name, copy);
  }

  add(key: string, descriptor: AnyDescriptor | undefined, base: Node | undefined): Node {
    const node = new Node(key, descriptor, base);
    this.#nodes.set(key, node);
    this.#keys.add(key);
    if (base && base.derived.size === 0) writable(base).derived = new Set();
    if (base) (base.derived as Set<Node>).add(node);
    return node;
  }

  /** Removes a node that has neither a desired nor an actual value. */
  remove(node: Node): void {
    this.setDesired(node, undefined, none);
    this.setDerivedDependencies(node, none);
    this.setActual(node, undefined, none);
    this.setOutcomeKnown(node);
    this.setNotFailed(node);
    this.rejected.delete(node);
    this.blocked.delete(node);
    this.#nodes.delete(node.key);
    this.#keys.delete(node.key);
    this.contended.setFree(node.key);
    this.contended.deleteBase(node.key);
    (node.base?.derived as Set<Node> | undefined)?.delete(node);
  }

  setDesired(node: Node, value: Value | undefined, dependencies: readonly Dependency[]): void {
    writable(node).desired = value;
    writable(node).desiredDependencies = dependencies;
    this.#reindex(node);
    this.setAwaitedClaims(node, none);
    this.changes++;
  }

  setDerivedDependencies(node: Node, dependencies: readonly Dependency[]): void {
    if (dependencies === node.derivedDependencies) return;
    this.#prospects.delete(node, node.derivedDependencies);
    this.#prospects.add(node, dependencies);
    writable(node).derivedDependencies = dependencies;
  }

  /**
   * Sets the actual value; undefined: none, and no metadata either.
   * @param claims of the value, if they are known
   */
  setActual(
    node: Node,
    value: Value | undefined,
    dependencies: readonly Dependency[],
    claims?: readonly string[],
  ): void {
    if (node.descriptor?.claims) this.#setClaims(node, claims ?? claimsOf(node, value));
    writable(node).actual = value;
    writable(node).actualDependencies = dependencies;
    this.#reindex(node);
    if (value === undefined) {
      writable(node).lostDependency = undefined;
      writable(node).broken = undefined;
      this.setMetadata(node, undefined);
    }
    this.changes++;
  }

  setMetadata(node: Node, metadata: unknown): void {
    if (node.metadata === metadata) return;
    writable(node).metadata = metadata;
    this.#withNewMetadata.push(node);
    const { descriptor } = node;
    const map = descriptor && this.#metadata.get(descriptor.name);
    if (!map) return;
    const label = descriptor.label?.(node.key) ?? node.key;
    if (metadata === undefined) void map.delete(label);
    else map.put(label, metadata);
  }

  setFailed(node: Node): void {
    this.#failed.add(node);
    addItem(this.#failedByRoot, node.root, node);
  }

  setNotFailed(node: Node): void {
    if (this.#failed.delete(node)) deleteItem(this.#failedByRoot, node.root, node);
  }

  /** @param possible the value that it may have: it counts as having the claims of this one, too */
  setOutcomeUnknown(node: Node, possible: Value): void {
    writable(node).outcomeUnknown = true;
    this.withUnknownOutcome.add(node);
    this.#possible.set(node, possible);
    for (const name of claimsOf(node, possible)) addItem(this.#holders, name, node);
  }

  setOutcomeKnown(node: Node): void {
    const possible = this.#possible.get(node);
    if (possible === undefined) return;
    writable(node).outcomeUnknown = false;
    this.withUnknownOutcome.delete(node);
    this.#possible.delete(node);
    const actual = new Set(node.claims);
    for (const name of claimsOf(node, possible))
      if (!actual.has(name)) deleteItem(this.#holders, name, node);
  }

  setAwaitedClaims(node: Node, names: readonly string[]): void {
    if (names.length === 0 && node.awaitedClaims.length === 0) return;
    for (const name of node.awaitedClaims) deleteItem(this.#waiters, name, node);
    writable(node).awaitedClaims = names;
    for (const name of names) addItem(this.#waiters, name, node);
  }

  #setClaims(node: Node, names: readonly string[]): void {
    if (deepEqual(names, node.claims)) return;
    for (const name of node.claims) deleteItem(this.#holders, name, node);
    writable(node).claims = names;
    for (const name of node.claims) addItem(this.#holders, name, node);
  }

  #reindex(node: Node): void {
    const { desiredDependencies: desired, actualDependencies: actual } = node;
    let both = desired;
    if (desired.length === 0) both = actual;
    else if (actual.length > 0 && actual !== desired) both = [...desired, ...actual];
    if (both === node.indexed) return;
    this.#dependents.delete(node, node.indexed);
    this.#dependents.add(node, both);
    writable(node).indexed = both;
  }
}

/** The nodes of one descriptor, base and derived. */
export function* nodesOf(graph: Graph, descriptor: AnyDescriptor): Generator<Node, void, void> {
  for (const prefix of shortestPrefixes(descriptor))
    for (const node of graph.withPrefix(prefix)) if (node.descriptor === descriptor) yield node;
}

/** `nodesOf` for readers that yield to the event loop in between. */
export function* nodesStepwise(
  graph: Graph,
  descriptor: AnyDescriptor,
): Generator<Node, void, void> {
  for (const prefix of shortestPrefixes(descriptor))
    for (const node of graph.stepwise(prefix)) if (node.descriptor === descriptor) yield node;
}

function shortestPrefixes({ keyPrefixes }: AnyDescriptor): string[] {
  return [...new Set(keyPrefixes)]
    .filter((prefix, _, all) => !all.some((one) => one !== prefix && prefix.startsWith(one)))
    .sort();
}
