import type { AnyDescriptor } from './api.ts';
import { ErrDescriptorExists, ErrRetrieveCycle, ErrTwoDescriptors } from './errors.ts';

/** The descriptors, found by the keys that they own. */
export class Registry {
  /** In the order in which the southbound is read back: `retrieveDependencies` first. */
  readonly descriptors: readonly AnyDescriptor[];
  readonly #byName = new Map<string, AnyDescriptor>();
  readonly #byPrefix = new Map<string, AnyDescriptor[]>();
  /** The distinct lengths of prefixes: what has to be looked up for one key. */
  readonly #lengths: readonly number[];

  /** @throws ErrDescriptorExists, ErrTwoDescriptors, ErrRetrieveCycle */
  constructor(descriptors: readonly AnyDescriptor[]) {
    for (const descriptor of descriptors) this.#register(descriptor);
    this.#lengths = [...new Set([...this.#byPrefix.keys()].map(({ length }) => length))];
    this.descriptors = retrieveOrder(this.#byName);
  }

  named(name: string): AnyDescriptor | undefined {
    return this.#byName.get(name);
  }

  /**
   * @returns undefined when nobody owns the key
   * @throws ErrTwoDescriptors when two `ownsKey` accept it
   */
  find(key: string): AnyDescriptor | undefined {
    let found: AnyDescriptor | undefined;
    for (const length of this.#lengths) {
      if (length > key.length) continue;
      for (const descriptor of this.#byPrefix.get(key.slice(0, length)) ?? []) {
        if (descriptor === found || !(descriptor.ownsKey?.(key) ?? true)) continue;
        if (found) throw twoDescriptors(found, descriptor, key);
        found = descriptor;
      }
    }
    return found;
  }

  #register(descriptor: AnyDescriptor): void {
    if (this.#byName.has(descriptor.name))
      throw new ErrDescriptorExists('is registered already', { where: descriptor.name });
    for (const [name, other] of this.#byName)
      for (const prefix of descriptor.keyPrefixes)
        for (const theirs of other.keyPrefixes) {
          const longer = overlap(prefix, theirs);
          if (longer !== undefined && bothOwn(descriptor, other, longer))
            throw twoDescriptors(this.#byName.get(name) as AnyDescriptor, descriptor, longer);
        }
    this.#byName.set(descriptor.name, descriptor);
    for (const prefix of new Set(descriptor.keyPrefixes))
      this.#byPrefix.set(prefix, [...(this.#byPrefix.get(prefix) ?? []), descriptor]);
  }
}

/** The longer of two prefixes of which one begins with the other. */
function overlap(a: string, b: string): string | undefined {
  if (a.startsWith(b)) return a;
  return b.startsWith(a) ? b : undefined;
}

/**
 * Where prefixes overlap, `ownsKey` has to tell the two apart. What it does with real keys shows
 * only when they come; here it is asked about the shared prefix itself.
 */
function bothOwn(a: AnyDescriptor, b: AnyDescriptor, prefix: string): boolean {
  if (!a.ownsKey && !b.ownsKey) return true;
  return (a.ownsKey?.(prefix) ?? true) && (b.ownsKey?.(prefix) ?? true);
}

function twoDescriptors(a: AnyDescriptor, b: AnyDescriptor, key: string): Error {
  return new ErrTwoDescriptors(`owned by both ${a.name} and ${b.name}`, { where: key });
}

/** Dependencies first, else alphabetical; names that nobody has are ignored. */
function retrieveOrder(byName: ReadonlyMap<string, AnyDescriptor>): AnyDescriptor[] {
  const ordered: AnyDescriptor[] = [];
  const state = new Map<string, 'visiting' | 'done'>();
  const visit = (name: string, path: readonly string[]): void => {
    const descriptor = byName.get(name);
    if (!descriptor || state.get(name) === 'done') return;
    if (state.get(name) === 'visiting')
      throw new ErrRetrieveCycle(`cycle ${[...path, name].join(' -> ')}`, { where: name });
    state.set(name, 'visiting');
    for (const before of [...(descriptor.retrieveDependencies ?? [])].sort())
      visit(before, [...path, name]);
    state.set(name, 'done');
    ordered.push(descriptor);
  };
  for (const name of [...byName.keys()].sort()) visit(name, []);
  return ordered;
}
