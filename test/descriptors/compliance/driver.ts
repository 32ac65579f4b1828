/**
 * A minimal scheduler for descriptors: sequential operations, dependencies, derived values, retrieve.
 * Like the scheduler, it throws on access to metadata of undeclared keys.
 */
import { isDeepStrictEqual } from 'node:util';
import type {
  AnyDescriptor,
  Dependency,
  KeyedValue,
  OperationContext,
  RetrieveContext,
  RetrievedValue,
} from '#kvscheduler/api/descriptor.ts';

interface Node {
  readonly key: string;
  readonly descriptor: AnyDescriptor | undefined;
  readonly base: string | undefined;
  value: object;
  metadata: unknown;
}

interface DesiredValue {
  readonly value: object;
  readonly base: string | undefined;
}

export interface Operation {
  readonly kind: 'create' | 'update' | 'delete';
  readonly key: string;
}

/** A value of unknown origin is managed if it is desired. */
export function isManaged(found: RetrievedValue, wanted: readonly KeyedValue[]): boolean {
  if (found.origin === 'from-NB') return true;
  return found.origin !== 'from-SB' && wanted.some(({ key }) => key === found.key);
}

export class Driver {
  readonly #descriptors: readonly AnyDescriptor[];
  /** Desired values, base and derived. */
  readonly #desired = new Map<string, DesiredValue>();
  /** Actual values. */
  readonly #nodes = new Map<string, Node>();
  readonly #leaving = new Set<string>();
  /** Successful operations. */
  readonly log: Operation[] = [];
  /** Called around every create, to see whether a failed one left something. */
  aroundCreate: <T>(key: string, create: () => Promise<T>) => Promise<T> = (_key, create) =>
    create();

  constructor(descriptors: readonly AnyDescriptor[]) {
    this.#descriptors = descriptors;
  }

  get pending(): readonly string[] {
    return [...this.#desired.keys()].filter((key) => !this.#nodes.has(key));
  }

  get desired(): readonly KeyedValue[] {
    return [...this.#desired]
      .filter(([, { base }]) => base === undefined)
      .map(([key, { value }]) => ({ key, value }));
  }

  /** Keys of the actual values. */
  get keys(): readonly string[] {
    return [...this.#nodes.keys()];
  }

  metadata<M>(key: string): M | undefined {
    return this.#nodes.get(key)?.metadata as M | undefined;
  }

  descriptorOf(key: string): AnyDescriptor | undefined {
    const owners = this.#descriptors.filter(
      (each) =>
        each.keyPrefixes.some((prefix) => key.startsWith(prefix)) && (each.ownsKey?.(key) ?? true),
    );
    if (owners.length > 1) {
      throw new Error(`${key} has two descriptors: ${owners.map(({ name }) => name).join(', ')}`);
    }
    return owners[0];
  }

  async put(key: string, value: object): Promise<void> {
    const descriptor = this.descriptorOf(key);
    if (descriptor === undefined) throw new Error(`no descriptor for ${key}`);
    descriptor.validate?.(key, value);
    await this.#desire(key, value, undefined);
    await this.#settle();
  }

  async delete(key: string): Promise<void> {
    await this.#forget(key);
    await this.#settle();
  }

  async #desire(key: string, value: object, base: string | undefined): Promise<void> {
    this.#desired.set(key, { value, base });
    const node = this.#nodes.get(key);
    if (node !== undefined) await this.#change(node, value);
  }

  async #forget(key: string): Promise<void> {
    this.#desired.delete(key);
    await this.#remove(key);
    for (const [derived, { base }] of [...this.#desired]) {
      if (base === key) await this.#forget(derived);
    }
  }

  /** Creates values until none can be created. */
  async #settle(): Promise<void> {
    for (let moved = true; moved; ) {
      moved = false;
      for (const [key, { value, base }] of [...this.#desired]) {
        if (this.#nodes.has(key) || !this.#desired.has(key)) continue;
        if (base !== undefined && !this.#nodes.has(base)) continue;
        if (!this.#isMet(key, value)) continue;
        await this.#create(key, value, base);
        moved = true;
      }
    }
  }

  async #create(key: string, value: object, base: string | undefined): Promise<void> {
    const descriptor = this.descriptorOf(key);
    const node: Node = { key, descriptor, base, value, metadata: undefined };
    if (descriptor !== undefined) {
      const { create } = descriptor;
      if (create === undefined) throw new Error(`${descriptor.name} cannot create`);
      node.metadata = await this.aroundCreate(key, () => create(key, value, this.#context(node)));
    }
    this.#nodes.set(key, node);
    this.log.push({ kind: 'create', key });
    for (const derived of descriptor?.derived?.(key, value) ?? []) {
      await this.#desire(derived.key, derived.value, key);
    }
  }

  async #change(node: Node, value: object): Promise<void> {
    const { key, descriptor } = node;
    const before = node.value;
    const same =
      descriptor?.equivalent ?? ((_key, a: object, b: object) => isDeepStrictEqual(a, b));
    if (!same(key, before, value)) {
      const recreate =
        descriptor?.update === undefined ||
        descriptor.needsRecreate?.(key, before, value, node.metadata) === true;
      if (recreate) {
        await this.#remove(key);
        return;
      }
      const context = this.#context({ ...node, value });
      node.metadata = await descriptor.update?.(key, before, value, node.metadata, context);
      this.log.push({ kind: 'update', key });
    }
    node.value = value;
    const derived = descriptor?.derived?.(key, value) ?? [];
    for (const [other, { base }] of [...this.#desired]) {
      if (base === key && !derived.some((each) => each.key === other)) await this.#forget(other);
    }
    for (const each of derived) await this.#desire(each.key, each.value, key);
  }

  /** Deletes it after everything that depends on it or is derived from it; it stays desired. */
  async #remove(key: string): Promise<void> {
    const node = this.#nodes.get(key);
    if (node === undefined || this.#leaving.has(key)) return;
    this.#leaving.add(key);
    try {
      await this.#removeNode(key, node);
    } finally {
      this.#leaving.delete(key);
    }
  }

  async #removeNode(key: string, node: Node): Promise<void> {
    for (const other of [...this.#nodes.values()]) {
      const hangs = other.base === key || !this.#isMet(other.key, other.value, key);
      if (other.key !== key && hangs) await this.#remove(other.key);
    }
    const remove = node.descriptor?.delete;
    if (node.descriptor !== undefined && remove === undefined) {
      throw new Error(`${node.descriptor.name} cannot delete`);
    }
    await remove?.(key, node.value, node.metadata, this.#context(node));
    this.#nodes.delete(key);
    this.log.push({ kind: 'delete', key });
  }

  #isMet(key: string, value: object, without?: string): boolean {
    const present = [...this.#nodes.keys()].filter((each) => each !== without);
    return this.#dependencies(key, value).every(({ key: wanted, anyOf }) => {
      if (wanted !== undefined) return present.includes(wanted);
      return present.some(
        (each) =>
          anyOf?.prefixes.some((prefix) => each.startsWith(prefix)) &&
          (anyOf.accepts?.(each) ?? true),
      );
    });
  }

  #dependencies(key: string, value: object): readonly Dependency[] {
    return this.descriptorOf(key)?.dependencies?.(key, value) ?? [];
  }

  #context(node: Node): OperationContext {
    return {
      metadata: <M>(key: string): M => {
        const declared = this.#dependencies(node.key, node.value).some((each) => each.key === key);
        if (!declared && key !== node.base) {
          throw new Error(`${node.key} reads metadata of ${key} without depending on it`);
        }
        return this.#nodes.get(key)?.metadata as M;
      },
    };
  }

  /** Retrieves everything in the order of the descriptors' dependencies. */
  async retrieve(
    correlate: readonly KeyedValue[] = this.desired,
  ): Promise<ReadonlyMap<string, RetrievedValue>> {
    const found = new Map<string, RetrievedValue>();
    const metadata = new Map<string, Map<string, unknown>>();
    const context: RetrieveContext = {
      isKnown: (key) => this.#nodes.has(key),
      retrieved: <M>(name: string) => (metadata.get(name) ?? new Map()) as Map<string, M>,
      leftover: () => undefined,
      readBack: {},
    };
    for (const descriptor of this.#inRetrieveOrder()) {
      const own = correlate.filter(({ key }) => this.descriptorOf(key) === descriptor);
      const values: readonly RetrievedValue[] = (await descriptor.retrieve?.(own, context)) ?? own;
      for (const each of values) {
        if (this.descriptorOf(each.key) !== descriptor) {
          throw new Error(`${descriptor.name} retrieved ${each.key}, which is not its own`);
        }
        if (found.has(each.key)) throw new Error(`${each.key} was retrieved twice`);
        found.set(each.key, each);
      }
      metadata.set(descriptor.name, new Map(values.map((each) => [each.key, each.metadata])));
    }
    return found;
  }

  #inRetrieveOrder(): readonly AnyDescriptor[] {
    const ordered: AnyDescriptor[] = [];
    const visit = (descriptor: AnyDescriptor): void => {
      if (ordered.includes(descriptor)) return;
      for (const name of descriptor.retrieveDependencies ?? []) {
        const other = this.#descriptors.find((each) => each.name === name);
        if (other !== undefined) visit(other);
      }
      ordered.push(descriptor);
    };
    for (const descriptor of this.#descriptors) visit(descriptor);
    return ordered;
  }

  /** A resync: reads back, deletes managed values that are not desired, updates and creates the others. */
  async resync(wanted: readonly KeyedValue[]): Promise<void> {
    const found = await this.retrieve(wanted);
    for (const each of found.values()) {
      if (isManaged(each, wanted)) this.#adopt(each);
    }
    for (const key of [...found.keys()]) {
      if (!wanted.some((each) => each.key === key)) await this.#forget(key);
    }
    for (const { key, value } of wanted) await this.#desire(key, value, undefined);
    await this.#settle();
  }

  #adopt({ key, value, metadata }: RetrievedValue): void {
    const descriptor = this.descriptorOf(key);
    this.#desired.set(key, { value, base: undefined });
    this.#nodes.set(key, { key, descriptor, base: undefined, value, metadata });
    for (const derived of descriptor?.derived?.(key, value) ?? []) {
      const own = this.descriptorOf(derived.key);
      const { key: name, value: actual } = derived;
      this.#desired.set(name, { value: actual, base: key });
      this.#nodes.set(name, {
        key: name,
        descriptor: own,
        base: key,
        value: actual,
        metadata: undefined,
      });
    }
  }
}
