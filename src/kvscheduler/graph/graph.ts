/**
 * What the scheduler knows: one node a value, with its wished and its actual side, and the edges
 * between them. Everything is found through an index; nothing walks over all values.
 */

import { type Slices, sortInSlices } from '#infra/clock/slices.ts';
import type { IndexMap } from '#infra/idxmap/idxmap.ts';
import type { AnyDescriptor, Dependency } from '../api/descriptor.ts';
import type { RetryPolicy, Value } from '../api/transaction.ts';
import type { Operation, ValueState } from '../api/value-state.ts';
import { byKey } from './by-key.ts';
import { DependencyIndex } from './dependency-index.ts';
import { deepEqual } from './equality.ts';
import { KeyIndex } from './key-index.ts';
import { addItem, deleteItem, itemsOf, type OneOrMany } from './one-or-many.ts';

const none: readonly never[] = [];
const noNodes: ReadonlySet<Node> = new Set();

export class Node {
  readonly key: string;
  readonly descriptor: AnyDescriptor | undefined;
  /** The value that this one is derived from. */
  readonly base: Node | undefined;
  /** What shall be there. Of a value that is not ours, and of one that shall go: undefined. */
  desired: Value | undefined;
  /** What is there; the same object as `wanted` exactly when nothing is left to do. */
  actual: Value | undefined;
  metadata: unknown;
  state: ValueState = 'NONEXISTENT';
  lastOperation: Operation | undefined;
  /** The last transaction that did something to it, or found it to be another than was known. */
  lastTxn = -1;
  error: Error | undefined;
  /** Nobody knows whether the last operation took place: to be read back first. */
  outcomeUnknown = false;
  /** By the last plan it shall not be there, even if what is there could not be removed. */
  toBeRemoved = false;
  /** What is wrong with what is wanted, whatever the state tells of what is there. */
  invalid: Error | undefined;
  /** What is wanted was not shown to the descriptor yet. */
  needsInspection = false;
  desiredDependencies: readonly Dependency[] = none;
  actualDependencies: readonly Dependency[] = none;
  derived: ReadonlySet<Node> = noNodes;
  /** Claimed resources that a pending value waits for. */
  awaitedClaims: readonly string[] = none;
  /** Claimed resources that it occupies by what is there. */
  claims: readonly string[] = none;
  /** Of a base value: the last transaction that wished something for it, and its policy. */
  seqNum = -1;
  retry: RetryPolicy | undefined;
  /** The dependencies under which the graph's index has this node. */
  indexed: readonly Dependency[] = none;

  constructor(key: string, descriptor: AnyDescriptor | undefined, base: Node | undefined) {
    this.key = key;
    this.descriptor = descriptor;
    this.base = base;
  }

  /** Made by somebody else: never created, changed or deleted by us. */
  get unmanaged(): boolean {
    return this.state === 'OBTAINED';
  }

  /** There and meant to stay: what dependencies ask. */
  get available(): boolean {
    if (this.actual === undefined || this.outcomeUnknown || this.toBeRemoved) return false;
    return this.desired !== undefined || this.unmanaged;
  }

  /** What is there is not what the last plan wished: a failure stood in the way. */
  get outOfSync(): boolean {
    if (this.actual === undefined || this.unmanaged) return false;
    return this.actual !== this.desired || this.toBeRemoved;
  }

  get root(): Node {
    let node: Node = this;
    while (node.base) node = node.base;
    return node;
  }
}

export class Graph {
  /** How often a node was looked at: what the cost of a transaction is measured in. */
  visits = 0;
  /** How often an index was asked. */
  lookUps = 0;
  /** Nodes whose last operation has an unknown outcome. */
  readonly withUnknownOutcome = new Set<Node>();
  /** Nodes whose last operation failed: those in the states FAILED and RETRYING. */
  readonly failed = new Set<Node>();
  /** Nodes to which a failed one stood in the way; for some nothing may be left to do since. */
  readonly blocked = new Set<Node>();
  readonly #nodes = new Map<string, Node>();
  readonly #keys = new KeyIndex();
  readonly #dependents = new DependencyIndex<Node>();
  readonly #holders = new Map<string, OneOrMany<Node>>();
  readonly #waiters = new Map<string, OneOrMany<Node>>();
  /** What the nodes of unknown outcome may have become. */
  readonly #maybe = new Map<Node, Value>();
  readonly #metadata: ReadonlyMap<string, IndexMap<unknown>>;
  #remarked = new Set<Node>();

  /** @param metadata the map of each descriptor by its name, kept up to date by the graph */
  constructor(metadata: ReadonlyMap<string, IndexMap<unknown>>) {
    this.#metadata = metadata;
  }

  get size(): number {
    return this.#nodes.size;
  }

  get(key: string): Node | undefined {
    this.visits++;
    return this.#nodes.get(key);
  }

  /** Whether it failed or was hindered by one that did: others may wait for what becomes of it. */
  mayBlockOthers(node: Node): boolean {
    return node.outOfSync || this.failed.has(node) || this.blocked.has(node);
  }

  /** All nodes in the order in which they came. */
  all(): Iterable<Node> {
    return this.#nodes.values();
  }

  *withPrefix(prefix: string): Generator<Node, void, void> {
    this.lookUps++;
    for (const key of this.#keys.withPrefix(prefix)) yield this.get(key) as Node;
  }

  /** The same for readers that give way in between: what is there all along is met once. */
  *stepwise(prefix: string): Generator<Node, void, void> {
    for (let keys = this.#keys.next(prefix); keys.length > 0; ) {
      for (const key of keys) {
        const node = this.#nodes.get(key);
        if (node) yield node;
      }
      keys = this.#keys.next(prefix, keys.at(-1));
    }
  }

  /** `get` for those who only report: it does not count as a visit. */
  peek(key: string): Node | undefined {
    return this.#nodes.get(key);
  }

  /** Nodes that got other metadata since the last call. */
  takeNodesWithNewMetadata(): ReadonlySet<Node> {
    const remarked = this.#remarked;
    this.#remarked = new Set();
    return remarked;
  }

  /** Nodes with a dependency that the key meets, wished or actual, in the order of their keys. */
  dependents(key: string): readonly Node[] {
    this.lookUps++;
    const found = new Set<Node>();
    this.#dependents.collect(key, found);
    this.visits += found.size;
    if (found.size === 0) return none;
    return found.size === 1 ? [...found] : [...found].sort(byKey);
  }

  /** How many `dependents` finds at most. */
  dependentCount(key: string): number {
    this.lookUps++;
    return this.#dependents.count(key);
  }

  /** The same as `dependents`, where there are many; a visit is counted by whoever looks at one. */
  async dependentsInSlices(key: string, slices: Slices): Promise<Node[]> {
    this.lookUps++;
    const found = new Set<Node>();
    await this.#dependents.collectInSlices(key, found, slices);
    return sortInSlices([...found], byKey, slices);
  }

  /** Nodes whose actual value claims the name. */
  holders(name: string): Iterable<Node> {
    this.lookUps++;
    return itemsOf(this.#holders.get(name));
  }

  /** Whether the actual value of another than this node claims the name. */
  isClaimedByOther(node: Node | undefined, name: string): boolean {
    this.lookUps++;
    const holders = this.#holders.get(name);
    return holders !== undefined && holders !== node;
  }

  /** Pending nodes that wait for the name to become free. */
  waiters(name: string): Iterable<Node> {
    this.lookUps++;
    return itemsOf(this.#waiters.get(name));
  }

  /** Whether some pending node waits for the name, or for any at all. */
  isAwaited(name?: string): boolean {
    return name === undefined ? this.#waiters.size > 0 : this.#waiters.has(name);
  }

  /** Names that some pending node waits for. */
  awaitedNames(): Iterable<string> {
    return this.#waiters.keys();
  }

  add(key: string, descriptor: AnyDescriptor | undefined, base: Node | undefined): Node {
    const node = new Node(key, descriptor, base);
    this.#nodes.set(key, node);
    this.#keys.add(key);
    if (base && base.derived.size === 0) base.derived = new Set();
    if (base) (base.derived as Set<Node>).add(node);
    return node;
  }

  /** Forgets a node of which nothing is wanted and nothing is there. */
  remove(node: Node): void {
    this.setDesired(node, undefined, none);
    this.setActual(node, undefined, none);
    this.setOutcomeKnown(node);
    this.failed.delete(node);
    this.blocked.delete(node);
    this.#nodes.delete(node.key);
    this.#keys.delete(node.key);
    (node.base?.derived as Set<Node> | undefined)?.delete(node);
  }

  setDesired(node: Node, value: Value | undefined, dependencies: readonly Dependency[]): void {
    node.desired = value;
    node.desiredDependencies = dependencies;
    this.#reindex(node);
    this.setAwaitedClaims(node, none);
  }

  /**
   * What is there now; undefined: nothing, and no metadata either.
   * @param claims of the value, where they have been worked out
   */
  setActual(
    node: Node,
    value: Value | undefined,
    dependencies: readonly Dependency[],
    claims?: readonly string[],
  ): void {
    if (node.descriptor?.claims) this.#setClaims(node, claims ?? claimsOf(node, value));
    node.actual = value;
    node.actualDependencies = dependencies;
    this.#reindex(node);
    if (value === undefined) this.setMetadata(node, undefined);
  }

  setMetadata(node: Node, metadata: unknown): void {
    if (node.metadata === metadata) return;
    node.metadata = metadata;
    this.#remarked.add(node);
    const { descriptor } = node;
    const map = descriptor && this.#metadata.get(descriptor.name);
    if (!map) return;
    const label = descriptor.label?.(node.key) ?? node.key;
    if (metadata === undefined) void map.delete(label);
    else map.put(label, metadata);
  }

  /** @param maybe what the value may have become: it counts as holding what that claims */
  setOutcomeUnknown(node: Node, maybe: Value): void {
    node.outcomeUnknown = true;
    this.withUnknownOutcome.add(node);
    this.#maybe.set(node, maybe);
    for (const name of claimsOf(node, maybe)) addItem(this.#holders, name, node);
  }

  setOutcomeKnown(node: Node): void {
    const maybe = this.#maybe.get(node);
    if (maybe === undefined) return;
    node.outcomeUnknown = false;
    this.withUnknownOutcome.delete(node);
    this.#maybe.delete(node);
    const held = new Set(node.claims);
    for (const name of claimsOf(node, maybe))
      if (!held.has(name)) deleteItem(this.#holders, name, node);
  }

  setAwaitedClaims(node: Node, names: readonly string[]): void {
    for (const name of node.awaitedClaims) deleteItem(this.#waiters, name, node);
    node.awaitedClaims = names;
    for (const name of names) addItem(this.#waiters, name, node);
  }

  #setClaims(node: Node, names: readonly string[]): void {
    if (deepEqual(names, node.claims)) return;
    for (const name of node.claims) deleteItem(this.#holders, name, node);
    node.claims = names;
    for (const name of node.claims) addItem(this.#holders, name, node);
  }

  #reindex(node: Node): void {
    const { desiredDependencies: wanted, actualDependencies: actual } = node;
    let both = wanted;
    if (wanted.length === 0) both = actual;
    else if (actual.length > 0 && actual !== wanted) both = [...wanted, ...actual];
    if (both === node.indexed) return;
    this.#dependents.delete(node, node.indexed);
    this.#dependents.add(node, both);
    node.indexed = both;
  }
}

/** The nodes of one descriptor, base and derived. */
export function* nodesOf(graph: Graph, descriptor: AnyDescriptor): Generator<Node, void, void> {
  for (const prefix of shortestPrefixes(descriptor))
    for (const node of graph.withPrefix(prefix)) if (node.descriptor === descriptor) yield node;
}

/** The same for readers that give way in between. */
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

/** Names of the resources that this value of the node occupies. */
export function claimsOf(
  { key, descriptor }: { readonly key: string; readonly descriptor: AnyDescriptor | undefined },
  value: Value | undefined,
): readonly string[] {
  if (value === undefined || !descriptor?.claims) return none;
  try {
    return descriptor.claims(key, value);
  } catch {
    return none;
  }
}
