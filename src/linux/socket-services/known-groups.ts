import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import type { MapEntries } from '../bpf/map.ts';
import type { Frontend, SocketBackend, SocketMapping, SocketService } from './api.ts';
import { GroupEntries, type GroupMaps } from './group-entries.ts';
import { decodeEndpoint, decodeFrontend, decodeGroup } from './layout.ts';

/**
 * The service of entries whose group has lost its own entry, which nothing but a fault outside of the agent can
 * cause. As it is a service like all others, a resync deletes it.
 */
const LOST_NAME = 'lost:entries';

export interface ServiceMaps extends GroupMaps {
  readonly frontends: MapEntries;
}

/** The services of the maps, as they were read last and have been changed since. Frontends are texts of their bytes. */
export class KnownGroups {
  readonly #maps: ServiceMaps;
  readonly #groups = new Map<number, GroupEntries>();
  /** By service. */
  readonly #numbers = new Map<string, Set<number>>();
  readonly #frontends = new Map<string, number>();
  #nextNumber = 1;

  /** Those of empty maps. */
  constructor(maps: ServiceMaps) {
    this.#maps = maps;
  }

  static async read(maps: ServiceMaps, clock: Clock): Promise<KnownGroups> {
    const known = new KnownGroups(maps);
    const slices = new Slices(clock);
    await slices.each(await maps.groups.entries(clock), ([key, value]) => {
      const head = decodeGroup(value);
      known.#add(new GroupEntries(maps, key.readUInt32LE(), head.name, head));
    });
    await slices.each(await maps.slots.entries(clock), ([key, value]) =>
      known.#found(key).found('slot', key.readUInt32LE(4), value.toString('latin1')),
    );
    await slices.each(await maps.members.entries(clock), ([key, value]) =>
      known.#found(key).found('member', value.readUInt32LE(), key.toString('latin1', 4)),
    );
    await slices.each(await maps.frontends.entries(clock), ([key, value]) =>
      known.setFrontend(key.toString('latin1'), known.#found(value)),
    );
    return known;
  }

  /** Number of entries of each map. */
  sizes(): Readonly<Record<keyof ServiceMaps, number>> {
    let slots = 0;
    let members = 0;
    for (const group of this.#groups.values()) {
      slots += group.slotCount;
      members += group.memberCount;
    }
    return { frontends: this.#frontends.size, groups: this.#groups.size, slots, members };
  }

  /** Of a service. */
  numbers(service: string): ReadonlySet<number> {
    return this.#numbers.get(service) ?? new Set();
  }

  get(number: number): GroupEntries {
    return this.#groups.get(number)!;
  }

  /** Number of the group that clients of a frontend reach. */
  at(frontend: string): number | undefined {
    return this.#frontends.get(frontend);
  }

  /** A group that has no entries yet. */
  create(service: string): GroupEntries {
    return this.#add(new GroupEntries(this.#maps, this.#nextNumber, service));
  }

  /** A group whose entries were removed. */
  delete(number: number): void {
    const { name } = this.get(number);
    this.#groups.delete(number);
    const numbers = this.#numbers.get(name)!;
    numbers.delete(number);
    if (numbers.size === 0) this.#numbers.delete(name);
  }

  setFrontend(frontend: string, group: GroupEntries): void {
    this.deleteFrontend(frontend);
    this.#frontends.set(frontend, group.number);
    group.frontends.add(frontend);
  }

  deleteFrontend(frontend: string): void {
    const before = this.#frontends.get(frontend);
    if (before === undefined) return;
    this.get(before).frontends.delete(frontend);
    this.#frontends.delete(frontend);
  }

  /** Sorted by name. */
  async services(clock: Clock): Promise<SocketService[]> {
    const all: SocketService[] = [];
    await new Slices(clock).each([...this.#numbers], ([name, numbers]) => {
      const groups = [...numbers].map((number) => this.get(number));
      const keyed = groups.map(
        (one) => [[...one.frontends].sort()[0] ?? '', mappingOf(one)] as const,
      );
      const mappings = keyed.sort(([a], [b]) => compareText(a, b)).map(([, mapping]) => mapping);
      all.push({ name, mappings });
    });
    return all.sort((a, b) => compareText(a.name, b.name));
  }

  #add(group: GroupEntries): GroupEntries {
    const { number, name } = group;
    this.#groups.set(number, group);
    this.#numbers.set(name, (this.#numbers.get(name) ?? new Set()).add(number));
    this.#nextNumber = Math.max(this.#nextNumber, number + 1);
    return group;
  }

  /** The group of an entry, whose number is first; without an entry of its own it is one of the lost service. */
  #found(bytes: Buffer): GroupEntries {
    const number = bytes.readUInt32LE();
    return this.#groups.get(number) ?? this.#add(new GroupEntries(this.#maps, number, LOST_NAME));
  }
}

function mappingOf({ frontends, weights, head }: GroupEntries): SocketMapping {
  const sorted = [...frontends].sort().map((one): Frontend => decodeFrontend(bytesOf(one)));
  const backends = [...weights()]
    .sort()
    .map(([text, weight]): SocketBackend => ({ ...decodeEndpoint(bytesOf(text)), weight }));
  const { affinityTimeout, hostSource } = head;
  return { frontends: sorted, backends, affinityTimeout, hostSource };
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
