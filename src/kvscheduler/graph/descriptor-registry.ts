import type { AnyDescriptor } from '../api/descriptor.ts';
import {
  DescriptorExistsError,
  DescriptorOverlapError,
  RetrieveCycleError,
} from '../api/errors.ts';

interface Prefix {
  readonly text: string;
  readonly owners: readonly AnyDescriptor[];
  /** The longest other prefix that this one begins with. */
  readonly shorter: Prefix | undefined;
  /** Owns every key with the prefix. Undefined: that depends on the key. */
  readonly onlyOwner: AnyDescriptor | undefined;
}

/** Finds descriptors by the keys that they own. */
export class Registry {
  /** In the order in which the southbound is read back: `retrieveDependencies` first. */
  readonly descriptors: readonly AnyDescriptor[];
  readonly #byName = new Map<string, AnyDescriptor>();
  readonly #prefixes: readonly Prefix[];
  /** The prefix that was found last: keys of one kind are often looked up in a row. */
  #last = -1;

  /** @throws DescriptorExistsError, DescriptorOverlapError, RetrieveCycleError */
  constructor(descriptors: readonly AnyDescriptor[]) {
    for (const descriptor of descriptors) this.#register(descriptor);
    this.#prefixes = prefixesOf(this.#byName.values());
    this.descriptors = retrieveOrder(this.#byName);
  }

  named(name: string): AnyDescriptor | undefined {
    return this.#byName.get(name);
  }

  /**
   * @returns undefined when no descriptor owns the key
   * @throws DescriptorOverlapError when two `ownsKey` accept it
   */
  find(key: string): AnyDescriptor | undefined {
    const closest = this.#closest(key);
    if (closest?.onlyOwner && key.startsWith(closest.text)) return closest.onlyOwner;
    let found: AnyDescriptor | undefined;
    for (let prefix = closest; prefix; prefix = prefix.shorter) {
      if (!key.startsWith(prefix.text)) continue;
      for (const descriptor of prefix.owners) {
        if (descriptor === found || !(descriptor.ownsKey?.(key) ?? true)) continue;
        if (found) throw twoDescriptors(found, descriptor, key);
        found = descriptor;
      }
    }
    return found;
  }

  /** `find`, but undefined as well when two descriptors own the key. */
  tryFind(key: string): AnyDescriptor | undefined {
    try {
      return this.find(key);
    } catch {
      return undefined;
    }
  }

  /**
   * The last prefix in their order that is not after the key: every prefix of the key is that one or
   * a prefix of it.
   */
  #closest(key: string): Prefix | undefined {
    if (this.#isClosest(this.#last, key)) return this.#prefixes[this.#last];
    let low = 0;
    let high = this.#prefixes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#prefixes[middle] as Prefix).text <= key) low = middle + 1;
      else high = middle;
    }
    this.#last = low - 1;
    return this.#prefixes[this.#last];
  }

  #isClosest(at: number, key: string): boolean {
    const prefix = this.#prefixes[at];
    if (prefix === undefined || prefix.text > key) return false;
    const next = this.#prefixes[at + 1];
    return next === undefined || key < next.text;
  }

  #register(descriptor: AnyDescriptor): void {
    if (this.#byName.has(descriptor.name))
      throw new DescriptorExistsError('is registered already', { where: descriptor.name });
    for (const [name, other] of this.#byName)
      for (const prefix of descriptor.keyPrefixes)
        for (const theirs of other.keyPrefixes) {
          const longer = overlap(prefix, theirs);
          if (longer !== undefined && bothOwn(descriptor, other, longer))
            throw twoDescriptors(this.#byName.get(name) as AnyDescriptor, descriptor, longer);
        }
    this.#byName.set(descriptor.name, descriptor);
  }
}

/** Of all descriptors, in order. */
function prefixesOf(descriptors: Iterable<AnyDescriptor>): Prefix[] {
  const owners = new Map<string, AnyDescriptor[]>();
  for (const descriptor of descriptors)
    for (const text of new Set(descriptor.keyPrefixes))
      owners.set(text, [...(owners.get(text) ?? []), descriptor]);
  const prefixes: Prefix[] = [];
  for (const text of [...owners.keys()].sort()) {
    let shorter = prefixes.at(-1);
    while (shorter && !text.startsWith(shorter.text)) shorter = shorter.shorter;
    const [first, ...others] = owners.get(text) ?? [];
    const isOnly = !shorter && first?.ownsKey === undefined && others.length === 0;
    const onlyOwner = isOnly ? first : undefined;
    prefixes.push({ text, owners: owners.get(text) ?? [], shorter, onlyOwner });
  }
  return prefixes;
}

/** The longer of two prefixes of which one begins with the other. */
function overlap(a: string, b: string): string | undefined {
  if (a.startsWith(b)) return a;
  return b.startsWith(a) ? b : undefined;
}

/**
 * Whether two descriptors with overlapping prefixes both own the shared prefix. Their `ownsKey` can be
 * checked with real keys only later, in `find`.
 */
function bothOwn(a: AnyDescriptor, b: AnyDescriptor, prefix: string): boolean {
  if (!a.ownsKey && !b.ownsKey) return true;
  return (a.ownsKey?.(prefix) ?? true) && (b.ownsKey?.(prefix) ?? true);
}

function twoDescriptors(a: AnyDescriptor, b: AnyDescriptor, key: string): Error {
  return new DescriptorOverlapError(`owned by both ${a.name} and ${b.name}`, { where: key });
}

/** Dependencies first, otherwise alphabetical; unknown names are ignored. */
function retrieveOrder(byName: ReadonlyMap<string, AnyDescriptor>): AnyDescriptor[] {
  const ordered: AnyDescriptor[] = [];
  const state = new Map<string, 'visiting' | 'done'>();
  const visit = (name: string, path: readonly string[]): void => {
    const descriptor = byName.get(name);
    if (!descriptor || state.get(name) === 'done') return;
    if (state.get(name) === 'visiting')
      throw new RetrieveCycleError(`cycle ${[...path, name].join(' -> ')}`, { where: name });
    state.set(name, 'visiting');
    for (const before of [...(descriptor.retrieveDependencies ?? [])].sort())
      visit(before, [...path, name]);
    state.set(name, 'done');
    ordered.push(descriptor);
  };
  for (const name of [...byName.keys()].sort()) visit(name, []);
  return ordered;
}
