import type {
  AnyDescriptor,
  KeyedValue,
  Leftover,
  RetrievedValue,
} from '#kvscheduler/api/descriptor.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { tagToName } from './tags.ts';

/**
 * Keys of the objects that the agent or its predecessor has made. VPP stores only a name of such an
 * object, and an operator gives names, too.
 */
export interface ManagedKeys {
  /** To be called before all other functions. Rejects if the records cannot be read. */
  load(): Promise<void>;
  /** Whether the object is managed, desired or not. */
  has(key: string): boolean;
  /** The keys that are recorded because nothing else shows that their objects are managed. */
  recorded(): ReadonlyMap<string, NaturalIdentity>;
  /** Resolves when the keys are recorded, or the records cannot be written. */
  add(keys: ReadonlyMap<string, NaturalIdentity>): Promise<void>;
  /** The objects do not exist any more. */
  delete(keys: readonly string[]): void;
  /** An object with this key was found that is not managed. */
  reportUnmanaged(key: string): void;
}

/** By which an object is recognized that a crash left without its name; empty: it is created with the name. */
export type NaturalIdentity = string;

/** Without records every object with a name is managed. */
export const allKeys: ManagedKeys = {
  load: async () => undefined,
  has: () => true,
  recorded: () => new Map(),
  add: async () => undefined,
  delete: () => undefined,
  reportUnmanaged: () => undefined,
};

/** How the values of one descriptor name their objects. */
export interface NamedObjects<V extends Value> {
  /** The key that contains the name; of an invalid record in etcd it is not the key of the value. */
  keyOf(value: V): string;
  identityOf(value: V): NaturalIdentity;
}

/**
 * A descriptor whose objects are recognized by their names. A key is recorded before its object is created,
 * so that no crash leaves an object without a record, and until the object is deleted. Desired objects
 * that exist already, because another agent or a lost store has made them, are recorded by a resync.
 */
export function withRecords<V extends Value>(
  keys: ManagedKeys,
  descriptor: AnyDescriptor,
  { keyOf, identityOf }: NamedObjects<V>,
): AnyDescriptor {
  const { keyPrefixes, create, delete: remove, retrieve } = descriptor;
  const isOfDescriptor = (key: string): boolean => keyPrefixes.some((one) => key.startsWith(one));
  const differenceOfRecords = (
    found: readonly RetrievedValue[],
    correlate: readonly KeyedValue[],
  ): Leftover | undefined => {
    const managed = found.filter(({ origin }) => origin === 'from-NB');
    const unknown = managed.filter(({ key }) => !keys.has(key));
    const missing = new Map(unknown.map(({ key, value }) => [key, identityOf(value as V)]));
    const recorded = [...keys.recorded().keys()].filter(isOfDescriptor);
    let dead: readonly string[] = [];
    // of thousands of services and policies none is recorded
    if (recorded.length > 0) {
      const existing = new Set(managed.map(({ key }) => key));
      for (const { value } of correlate) existing.add(keyOf(value as V));
      // left by a create that failed, or by a crash after the object was deleted
      dead = recorded.filter((key) => !existing.has(key));
    }
    if (missing.size + dead.length === 0) return undefined;
    return {
      name: 'records',
      what: `objects without a record in the local store: ${missing.size}, records without an object: ${dead.length}`,
      precedes: [],
      async remove() {
        keys.delete(dead);
        await keys.add(missing);
      },
    };
  };
  return {
    ...descriptor,
    ...(create && {
      create(key, value, ctx) {
        // at once, so that requests stay in the order of the plan
        if (keys.has(keyOf(value))) return create(key, value, ctx);
        const record = new Map([[keyOf(value), identityOf(value)]]);
        return keys.add(record).then(() => create(key, value, ctx));
      },
    }),
    ...(remove && {
      async delete(key, value, metadata, ctx) {
        await remove(key, value, metadata, ctx);
        keys.delete([keyOf(value)]);
      },
    }),
    ...(retrieve && {
      async retrieve(correlate, ctx) {
        await keys.load();
        const found = await retrieve(correlate, ctx);
        const difference = ctx.only ? undefined : differenceOfRecords(found, correlate);
        if (difference) ctx.leftover(difference);
        return found;
      },
    }),
  };
}

/** How the keys of one model contain the name. */
export interface NamedKey {
  build(name: string): string;
  parse(key: string): string | undefined;
}

export interface ManagedNames {
  /** Desired or recorded names. */
  readonly all: readonly string[];
  /** Whether objects with this name are managed. */
  has(name: string): boolean;
  /** The name of a tag; undefined if the object is unmanaged. */
  ofTag(tag: string): string | undefined;
  /** The name of an object without a tag that is not desired any more. */
  ofOrphan(identity: NaturalIdentity): string | undefined;
}

/** @param desired names that are desired or known */
export function managedNames(
  keys: ManagedKeys,
  { build, parse }: NamedKey,
  desired: ReadonlySet<string>,
): ManagedNames {
  const recorded = [...keys.recorded().keys()].flatMap((key) => parse(key) ?? []);
  const all = [...new Set([...desired, ...recorded])];
  const orphans = new Map<NaturalIdentity, string>();
  for (const [key, identity] of keys.recorded()) {
    const name = parse(key);
    if (identity !== '' && name !== undefined && !desired.has(name)) orphans.set(identity, name);
  }
  const nameBehind = tagToName(all);
  const has = (name: string): boolean => {
    if (desired.has(name)) return true;
    const key = build(name);
    if (keys.has(key)) return true;
    keys.reportUnmanaged(key);
    return false;
  };
  return {
    all,
    has,
    ofOrphan: (identity) => orphans.get(identity),
    ofTag(tag) {
      const name = nameBehind(tag);
      return tag !== '' && has(name) ? name : undefined;
    },
  };
}
