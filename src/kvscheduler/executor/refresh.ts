/**
 * Reads the southbound back and brings the graph's actual side in line with it. Descriptors are
 * asked as soon as those have answered that they name in `retrieveDependencies`; what does not
 * depend on each other overlaps. Whoever fails to answer, or cannot, is assumed to be in sync.
 */

import { errorText } from '#infra/errors/errors.ts';
import type {
  AnyDescriptor,
  KeyedValue,
  RetrieveContext,
  RetrievedValue,
} from '../api/descriptor.ts';
import { UndeclaredReadError } from '../api/errors.ts';
import type { Value } from '../api/transaction.ts';
import { type Node, nodesOf } from '../graph/graph.ts';
import type { SchedulerContext } from './scheduler-context.ts';

const none: readonly never[] = [];

export interface RetrieveFailure {
  readonly descriptor: AnyDescriptor;
  readonly error: Error;
}

export interface Refreshed {
  /** Nodes whose actual value is another than was known. */
  readonly drifted: Set<Node>;
  readonly failures: readonly RetrieveFailure[];
}

type Surroundings = Pick<SchedulerContext, 'graph' | 'writer' | 'registry' | 'log' | 'slices'>;

/** Everything. @param wished what the northbound asks for in the same breath */
export async function refreshAll(
  around: Surroundings,
  wished: ReadonlyMap<string, Value | null>,
): Promise<Refreshed> {
  return new Refresh(around, wished, undefined).run(around.registry.descriptors);
}

/** These values and what is derived from them. @param nodes base values */
export async function readBack(around: Surroundings, nodes: ReadonlySet<Node>): Promise<Refreshed> {
  const keys = new Set<string>();
  const concerned = new Set<AnyDescriptor | undefined>();
  for (const { key, descriptor } of nodes) {
    if (around.slices.due()) await around.slices.turn();
    keys.add(key);
    concerned.add(descriptor);
  }
  const descriptors = around.registry.descriptors.filter((one) => concerned.has(one));
  return new Refresh(around, new Map(), keys).run(descriptors);
}

/**
 * What one descriptor reads just now; the graph is left as it is.
 * @param only keys that are of interest; absent: all
 * @throws what its `retrieve` throws
 */
export async function readSouthbound(
  around: Surroundings,
  descriptor: AnyDescriptor,
  only?: ReadonlySet<string>,
): Promise<readonly RetrievedValue[]> {
  return new Refresh(around, new Map(), only).look(descriptor);
}

type Answer = readonly RetrievedValue[] | undefined;

class Refresh {
  readonly #around: Surroundings;
  readonly #wished: ReadonlyMap<string, Value | null>;
  readonly #only: ReadonlySet<string> | undefined;
  /** Base values that the graph had before anything was read, by descriptor. */
  readonly #bases = new Map<AnyDescriptor, readonly Node[]>();
  readonly #answers = new Map<string, Promise<Answer>>();
  readonly #metadata = new Map<string, ReadonlyMap<string, unknown>>();
  readonly #failures: RetrieveFailure[] = [];
  readonly #moved = new Set<Node>();

  constructor(
    around: Surroundings,
    wished: ReadonlyMap<string, Value | null>,
    only: ReadonlySet<string> | undefined,
  ) {
    this.#around = around;
    this.#wished = wished;
    this.#only = only;
  }

  /** @param descriptors in the registry's order */
  async run(descriptors: readonly AnyDescriptor[]): Promise<Refreshed> {
    const correlates = await this.#correlate(descriptors);
    for (const descriptor of descriptors)
      this.#answers.set(descriptor.name, this.#ask(descriptor, correlates.get(descriptor) ?? none));
    for (const descriptor of descriptors) {
      const answer = await this.#answers.get(descriptor.name);
      if (answer) await this.#apply(descriptor, answer);
    }
    // In which order they failed is chance.
    const failures = descriptors.flatMap(
      (one) => this.#failures.find(({ descriptor }) => descriptor === one) ?? [],
    );
    return { drifted: this.#moved, failures };
  }

  async look(descriptor: AnyDescriptor): Promise<readonly RetrievedValue[]> {
    const correlate = (await this.#correlate([descriptor])).get(descriptor) ?? none;
    const answer = await this.#ask(descriptor, correlate);
    const [failure] = this.#failures;
    if (failure) throw failure.error;
    return answer ?? none;
  }

  /**
   * What each descriptor is told of its values: what is known to be there, else what is wished. Of
   * all, though only some are of interest: what belongs to another must not be taken for theirs.
   */
  async #correlate(
    descriptors: readonly AnyDescriptor[],
  ): Promise<ReadonlyMap<AnyDescriptor, KeyedValue[]>> {
    const { graph, registry, slices } = this.#around;
    const lists = new Map<AnyDescriptor, KeyedValue[]>();
    for (const descriptor of descriptors) {
      const list: KeyedValue[] = [];
      const bases: Node[] = [];
      lists.set(descriptor, list);
      this.#bases.set(descriptor, bases);
      for (const node of nodesOf(graph, descriptor)) {
        if (slices.due()) await slices.turn();
        if (node.base) continue;
        const { key, actual, desired: wanted } = node;
        if (this.#only?.has(key) ?? true) bases.push(node);
        const value = actual ?? this.#wished.get(key) ?? wanted;
        if (value !== undefined) list.push({ key, value });
      }
    }
    for (const [key, value] of this.#wished) {
      if (slices.due()) await slices.turn();
      if (value === null || graph.get(key)) continue;
      const descriptor = registry.tryFind(key);
      if (descriptor) lists.get(descriptor)?.push({ key, value });
    }
    return lists;
  }

  async #ask(descriptor: AnyDescriptor, correlate: readonly KeyedValue[]): Promise<Answer> {
    if (!descriptor.retrieve) return undefined;
    const before = descriptor.retrieveDependencies ?? none;
    await Promise.all(before.map((name) => this.#answers.get(name)));
    const { slices, log } = this.#around;
    const context: RetrieveContext = {
      retrieved: <M>(name: string) => {
        if (!before.includes(name))
          throw new UndeclaredReadError(`retrieve reads ${name}`, { where: descriptor.name });
        return this.#metadataOf(name) as ReadonlyMap<string, M>;
      },
      ...(this.#only && { only: this.#only }),
    };
    try {
      const answer = await descriptor.retrieve(correlate, context);
      if (this.#isAwaited(descriptor)) {
        // where only some are of interest, the others are as they are known
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
      log.warn(
        { descriptor: descriptor.name, error: error.message },
        'Descriptor cannot read the southbound; its values are assumed to be in sync',
      );
      return undefined;
    }
  }

  /** Whether another is read back by the metadata of this one. */
  #isAwaited({ name }: AnyDescriptor): boolean {
    const { descriptors } = this.#around.registry;
    return descriptors.some((one) => one.retrieveDependencies?.includes(name));
  }

  #metadataOf(name: string): ReadonlyMap<string, unknown> {
    const asked = this.#metadata.get(name);
    if (asked) return asked;
    const descriptor = this.#around.registry.named(name);
    const known = descriptor ? this.#known(descriptor) : new Map<string, unknown>();
    this.#metadata.set(name, known);
    return known;
  }

  #known(descriptor: AnyDescriptor): ReadonlyMap<string, unknown> {
    const known = new Map<string, unknown>();
    for (const { key, metadata } of nodesOf(this.#around.graph, descriptor))
      if (metadata !== undefined) known.set(key, metadata);
    return known;
  }

  async #apply(descriptor: AnyDescriptor, answer: readonly RetrievedValue[]): Promise<void> {
    const { graph, writer, slices, log } = this.#around;
    const seen = new Set<string>();
    for (const retrieved of answer) {
      if (slices.due()) await slices.turn();
      const { key } = retrieved;
      if (this.#only && !this.#only.has(key)) continue;
      const node = graph.get(key);
      const fault = this.#faultOf(descriptor, retrieved, node, seen);
      if (fault) {
        log.warn({ descriptor: descriptor.name, key, fault }, 'Retrieved value is skipped');
        continue;
      }
      seen.add(key);
      writer.applyFound(descriptor, retrieved, this.#isWished(key), this.#moved);
    }
    for (const node of this.#bases.get(descriptor) ?? none) {
      if (slices.due()) await slices.turn();
      if (seen.has(node.key)) continue;
      writer.applyLost(node, this.#moved);
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
    const owner = node?.descriptor ?? this.#around.registry.tryFind(key);
    return owner === descriptor ? undefined : 'not a key of this descriptor';
  }

  #isWished(key: string): boolean {
    return (this.#wished.get(key) ?? null) !== null;
  }
}
