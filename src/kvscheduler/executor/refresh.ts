/**
 * Reads the southbound and updates the actual state in the graph. A descriptor is called when those in
 * its `retrieveDependencies` have answered; independent descriptors overlap. The values of a descriptor
 * that fails or cannot retrieve are assumed to be in sync.
 */

import { errorText } from '#infra/errors/errors.ts';
import type {
  AnyDescriptor,
  KeyedValue,
  Leftover,
  RetrieveContext,
  RetrievedValue,
} from '../api/descriptor.ts';
import { UndeclaredReadError } from '../api/errors.ts';
import type { Value } from '../api/transaction.ts';
import { nodesOf } from '../graph/graph.ts';
import { leftoverDescriptor, leftoverPrefix, ofIncarnation } from '../graph/leftovers.ts';
import type { Node } from '../graph/node.ts';
import type { SchedulerContext } from './scheduler-context.ts';

const none: readonly never[] = [];
const noLeftovers: ReadonlyMap<string, Leftover> = new Map();
const LOGGED_FAILURES = 5;

export interface RetrieveFailure {
  readonly descriptor: AnyDescriptor;
  readonly error: Error;
}

export interface Refreshed {
  /** Nodes whose actual value differs from what was known. */
  readonly drifted: Set<Node>;
  readonly failures: readonly RetrieveFailure[];
}

type RefreshContext = Pick<SchedulerContext, 'graph' | 'writer' | 'registry' | 'log' | 'slices'>;

/** Everything that one descriptor found. */
export interface Found {
  readonly values: readonly RetrievedValue[];
  /** By the key of their nodes. */
  readonly leftovers: ReadonlyMap<string, Leftover>;
}

/** Reads all values and leftovers. @param desired the values that the same transaction sets */
export async function refreshAll(
  context: RefreshContext,
  desired: ReadonlyMap<string, Value | null>,
): Promise<Refreshed> {
  return new Refresh(context, desired, undefined).run(context.registry.descriptors);
}

/** Reads these values and their derived values. @param nodes base values */
export async function readBack(
  context: RefreshContext,
  nodes: ReadonlySet<Node>,
): Promise<Refreshed> {
  const keys = new Set<string>();
  const involved = new Set<AnyDescriptor | undefined>();
  for (const { key, descriptor } of nodes) {
    if (context.slices.due()) await context.slices.turn();
    keys.add(key);
    involved.add(descriptor);
  }
  const descriptors = context.registry.descriptors.filter((one) => involved.has(one));
  return new Refresh(context, new Map(), keys).run(descriptors);
}

/**
 * Has one descriptor read the southbound; the graph does not change.
 * @param only keys to read; absent: all
 * @throws what its `retrieve` throws
 */
export async function readSouthbound(
  context: RefreshContext,
  descriptor: AnyDescriptor,
  only?: ReadonlySet<string>,
): Promise<readonly RetrievedValue[]> {
  const found = (await new Refresh(context, new Map(), only).read([descriptor])).get(descriptor);
  if (found instanceof Error) throw found;
  return found?.values ?? none;
}

/**
 * Has the descriptors read the southbound; the graph does not change.
 * @param only keys to read; absent: all, of all descriptors
 */
export async function readAll(
  context: RefreshContext,
  only?: ReadonlySet<string>,
): Promise<ReadonlyMap<AnyDescriptor, Found | Error>> {
  const { graph, registry } = context;
  const owners = new Set([...(only ?? none)].map((key) => graph.get(key)?.descriptor));
  const descriptors = registry.descriptors.filter((one) => !only || owners.has(one));
  return new Refresh(context, new Map(), only).read(descriptors);
}

/** Undefined: the descriptor cannot retrieve, or failed. */
type Answer = readonly RetrievedValue[] | undefined;

class Refresh {
  readonly #context: RefreshContext;
  readonly #desired: ReadonlyMap<string, Value | null>;
  readonly #only: ReadonlySet<string> | undefined;
  /** Base values that the graph had before anything was read, by descriptor. */
  readonly #bases = new Map<AnyDescriptor, readonly Node[]>();
  readonly #answers = new Map<string, Promise<Answer>>();
  readonly #metadata = new Map<string, ReadonlyMap<string, unknown>>();
  readonly #leftovers = new Map<AnyDescriptor, Map<string, Leftover>>();
  readonly #incarnations = new Map<AnyDescriptor, unknown>();
  readonly #failures: RetrieveFailure[] = [];
  readonly #drifted = new Set<Node>();

  constructor(
    context: RefreshContext,
    desired: ReadonlyMap<string, Value | null>,
    only: ReadonlySet<string> | undefined,
  ) {
    this.#context = context;
    this.#desired = desired;
    this.#only = only;
  }

  /** @param descriptors in the registry's order */
  async run(descriptors: readonly AnyDescriptor[]): Promise<Refreshed> {
    await this.#ask(descriptors);
    for (const descriptor of descriptors) {
      const answer = await this.#answers.get(descriptor.name);
      if (answer) await this.#apply(descriptor, answer);
    }
    // Leftovers refer to values.
    if (!this.#only)
      for (const descriptor of descriptors)
        if (await this.#answers.get(descriptor.name)) await this.#applyLeftovers(descriptor);
    // The order in which they failed is random.
    const failures = descriptors.flatMap(
      (one) => this.#failures.find(({ descriptor }) => descriptor === one) ?? [],
    );
    if (failures.length > 0) this.#warn(failures);
    return { drifted: this.#drifted, failures };
  }

  /** Only reads. @param descriptors in the registry's order */
  async read(
    descriptors: readonly AnyDescriptor[],
  ): Promise<ReadonlyMap<AnyDescriptor, Found | Error>> {
    await this.#ask(descriptors);
    const found = new Map<AnyDescriptor, Found | Error>();
    for (const descriptor of descriptors) {
      const values = await this.#answers.get(descriptor.name);
      const leftovers = this.#leftovers.get(descriptor) ?? noLeftovers;
      if (values) found.set(descriptor, { values, leftovers });
    }
    for (const { descriptor, error } of this.#failures) found.set(descriptor, error);
    return found;
  }

  async #ask(descriptors: readonly AnyDescriptor[]): Promise<void> {
    const correlates = await this.#correlate(descriptors);
    for (const descriptor of descriptors)
      this.#answers.set(
        descriptor.name,
        this.#askOne(descriptor, correlates.get(descriptor) ?? none),
      );
  }

  /** One line: while VPP is disconnected, all of its descriptors fail, with each transaction. */
  #warn(failures: readonly RetrieveFailure[]): void {
    const texts = failures.map(({ descriptor, error }) => `${descriptor.name}: ${error.message}`);
    this.#context.log.warn(
      { failures: texts.slice(0, LOGGED_FAILURES), count: failures.length },
      'descriptors cannot read the southbound; assuming that their values are in sync',
    );
  }

  /**
   * The values that each descriptor gets to correlate: actual values as known, else desired ones, and no
   * unmanaged ones. All values, even if only some are read: a descriptor must not mistake an object of one
   * for another's.
   */
  async #correlate(
    descriptors: readonly AnyDescriptor[],
  ): Promise<ReadonlyMap<AnyDescriptor, KeyedValue[]>> {
    const { graph, registry, slices } = this.#context;
    const lists = new Map<AnyDescriptor, KeyedValue[]>();
    for (const descriptor of descriptors) {
      const list: KeyedValue[] = [];
      const bases: Node[] = [];
      lists.set(descriptor, list);
      this.#bases.set(descriptor, bases);
      for (const node of nodesOf(graph, descriptor)) {
        if (slices.due()) await slices.turn();
        if (node.base) continue;
        const { key, actual, desired, unmanaged } = node;
        if (this.#only?.has(key) ?? true) bases.push(node);
        const asked = this.#desired.get(key) ?? undefined;
        const value = unmanaged ? asked : (actual ?? asked ?? desired);
        if (value !== undefined) list.push({ key, value });
      }
    }
    for (const [key, value] of this.#desired) {
      if (slices.due()) await slices.turn();
      if (value === null || graph.get(key)) continue;
      const descriptor = registry.tryFind(key);
      if (descriptor) lists.get(descriptor)?.push({ key, value });
    }
    return lists;
  }

  async #askOne(descriptor: AnyDescriptor, correlate: readonly KeyedValue[]): Promise<Answer> {
    if (!descriptor.retrieve) return undefined;
    const before = descriptor.retrieveDependencies ?? none;
    await Promise.all(before.map((name) => this.#answers.get(name)));
    const { slices, writer } = this.#context;
    const incarnation = descriptor.incarnation?.();
    const leftovers = new Map<string, Leftover>();
    this.#incarnations.set(descriptor, incarnation);
    this.#leftovers.set(descriptor, leftovers);
    const context: RetrieveContext = {
      retrieved: <M>(name: string) => {
        if (!before.includes(name))
          throw new UndeclaredReadError(
            `retrieve reads metadata of descriptor ${name}, which is not in retrieveDependencies`,
            { where: descriptor.name },
          );
        return this.#metadataOf(name) as ReadonlyMap<string, M>;
      },
      isKnown: (key) => {
        const node = this.#context.graph.get(key);
        if (node?.actual === undefined || node.unmanaged || node.outcomeUnknown) return false;
        return writer.isOfIncarnation(descriptor, incarnation);
      },
      known: <M>(key: string) => this.#context.graph.get(key)?.metadata as M | undefined,
      leftover: (one) =>
        leftovers.set(
          leftoverPrefix(descriptor) + one.name,
          ofIncarnation(descriptor, incarnation, one),
        ),
      ...(this.#only && { only: this.#only }),
      readBack: this,
    };
    try {
      const answer = await descriptor.retrieve(correlate, context);
      if (this.#isDependedOn(descriptor)) {
        // Of values that are not read, the known metadata applies.
        const metadata = new Map(this.#only && this.#known(descriptor));
        for (const key of this.#only ?? none) metadata.delete(key);
        for (const value of answer) {
          if (slices.due()) await slices.turn();
          if (value.metadata !== undefined) metadata.set(value.key, value.metadata);
        }
        this.#metadata.set(descriptor.name, metadata);
      }
      return answer;
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(errorText(thrown));
      this.#failures.push({ descriptor, error });
      return undefined;
    }
  }

  /** Whether another descriptor reads back with the metadata of this one. */
  #isDependedOn({ name }: AnyDescriptor): boolean {
    const { descriptors } = this.#context.registry;
    return descriptors.some((one) => one.retrieveDependencies?.includes(name));
  }

  #metadataOf(name: string): ReadonlyMap<string, unknown> {
    const retrieved = this.#metadata.get(name);
    if (retrieved) return retrieved;
    const descriptor = this.#context.registry.named(name);
    const known = descriptor ? this.#known(descriptor) : new Map<string, unknown>();
    this.#metadata.set(name, known);
    return known;
  }

  #known(descriptor: AnyDescriptor): ReadonlyMap<string, unknown> {
    const known = new Map<string, unknown>();
    for (const { key, metadata } of nodesOf(this.#context.graph, descriptor))
      if (metadata !== undefined) known.set(key, metadata);
    return known;
  }

  async #apply(descriptor: AnyDescriptor, answer: readonly RetrievedValue[]): Promise<void> {
    const { graph, writer, slices, log } = this.#context;
    const seen = new Set<string>();
    for (const retrieved of answer) {
      if (slices.due()) await slices.turn();
      const { key } = retrieved;
      if (this.#only && !this.#only.has(key)) continue;
      const node = graph.get(key);
      const fault = this.#faultOf(descriptor, retrieved, node, seen);
      if (fault) {
        log.warn({ descriptor: descriptor.name, key, fault }, 'ignoring a retrieved value');
        continue;
      }
      seen.add(key);
      // What shows that it is broken may belong to values that are not read.
      const broken = retrieved.broken ?? (this.#only && node?.broken);
      const found = broken === undefined ? retrieved : { ...retrieved, broken };
      writer.applyFound(descriptor, found, this.#isDesired(key), this.#drifted);
    }
    for (const node of this.#bases.get(descriptor) ?? none) {
      if (slices.due()) await slices.turn();
      if (seen.has(node.key)) continue;
      writer.applyLost(node, this.#drifted);
    }
    if (!this.#only) writer.setIncarnation(descriptor, this.#incarnations.get(descriptor));
  }

  /** Leftovers are nodes until they are removed, or not found any more. */
  async #applyLeftovers(descriptor: AnyDescriptor): Promise<void> {
    const { graph, writer, slices } = this.#context;
    const found = this.#leftovers.get(descriptor) ?? noLeftovers;
    for (const node of [...graph.withPrefix(leftoverPrefix(descriptor))])
      if (!found.has(node.key)) writer.applyLost(node, this.#drifted);
    for (const [key, value] of found) {
      if (slices.due()) await slices.turn();
      const retrieved: RetrievedValue = { key, value, origin: 'from-NB' };
      writer.applyFound(leftoverDescriptor, retrieved, false, this.#drifted);
    }
  }

  #faultOf(
    descriptor: AnyDescriptor,
    { key, value }: RetrievedValue,
    node: Node | undefined,
    seen: ReadonlySet<string>,
  ): string | undefined {
    if (!key) return 'no key';
    if (seen.has(key)) return 'twice';
    if (value === undefined || value === null) return 'no value';
    if (node?.base) return 'the key of a derived value';
    const owner = node?.descriptor ?? this.#context.registry.tryFind(key);
    return owner === descriptor ? undefined : 'not a key of this descriptor';
  }

  #isDesired(key: string): boolean {
    return (this.#desired.get(key) ?? null) !== null;
  }
}
