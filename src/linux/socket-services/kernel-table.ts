import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { LinuxError } from '../api.ts';
import type { BpfMap } from '../bpf/map.ts';
import { Refusal } from '../netlink/refusal.ts';
import {
  type Frontend,
  reduceWeights,
  type SocketBackend,
  type SocketMapping,
  type SocketService,
  type SocketTable,
} from './api.ts';
import { GroupEntries } from './group-entries.ts';
import {
  datagramFrontend,
  decodeEndpoint,
  decodeFrontend,
  decodeGroup,
  encodeEndpoint,
  encodeFrontend,
  encodeNumber,
} from './layout.ts';

export type SocketMaps = Readonly<Record<'frontends' | 'groups' | 'slots' | 'members', BpfMap>>;

/** A mapping as entries of maps; endpoints and frontends as text of their bytes (`latin1`). */
interface Target {
  readonly frontends: readonly string[];
  readonly weights: ReadonlyMap<string, number>;
  readonly affinityTimeout: number;
}

export interface KernelTableDeps {
  readonly maps: SocketMaps;
  readonly clock: Clock;
  /** Removes programs and maps from the kernel. */
  readonly uninstall: () => void;
  /** Called when backends were removed, or may have been while no agent ran. */
  readonly onBackendsRemoved: () => void;
}

/**
 * The table in the maps of the kernel. It knows their content since the last reading, so that a change writes what
 * differs and reads nothing; no other program writes them.
 */
export class KernelSocketTable implements SocketTable {
  readonly #maps: SocketMaps;
  readonly #clock: Clock;
  /** Of the calls: thousands wait in a resync, and none of them waits for the kernel. */
  readonly #slices: Slices;
  readonly #uninstall: () => void;
  readonly #onBackendsRemoved: () => void;
  #groups = new Map<number, GroupEntries>();
  /** Numbers of the groups of a service. */
  #services = new Map<string, Set<number>>();
  #frontends = new Map<string, number>();
  #isKnown = false;
  #nextGroup = 1;
  /** The last call. */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ maps, clock, uninstall, onBackendsRemoved }: KernelTableDeps) {
    this.#maps = maps;
    this.#clock = clock;
    this.#slices = new Slices(clock);
    this.#uninstall = uninstall;
    this.#onBackendsRemoved = onBackendsRemoved;
  }

  put(service: SocketService): Promise<void> {
    return this.#next(service.name, () => this.#put(service));
  }

  delete(name: string): Promise<void> {
    return this.#next(name, () => this.#put({ name, mappings: [] }));
  }

  services(): Promise<readonly SocketService[]> {
    return this.#next('services', async () => {
      await this.#read();
      this.#onBackendsRemoved();
      return await this.#all();
    });
  }

  remove(): Promise<void> {
    return this.#next('services', async () => this.#uninstall());
  }

  #next<T>(where: string, work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work).catch((thrown: unknown) => {
      this.#isKnown = false;
      if (!(thrown instanceof Refusal)) throw thrown;
      const isFull = thrown.errno === 'E2BIG';
      const text = isFull ? 'the table of services at sockets is full' : thrown.message;
      throw new LinuxError(text, { where: `socket service ${where}`, errno: thrown.errno });
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Groups are filled before clients find them, and go after clients find them no more. */
  async #put({ name, mappings }: SocketService): Promise<void> {
    if (!this.#isKnown) await this.#read();
    if (this.#slices.due()) await this.#slices.turn();
    const targets = mappings.map(targetOf);
    const before = new Set(this.#services.get(name));
    const claimed = new Map<string, number>();
    let hasRemoved = false;
    for (const target of targets) {
      const group = this.#groupFor(name, target, before);
      before.delete(group.number);
      if (await group.fill(target.weights, target.affinityTimeout, this.#clock)) hasRemoved = true;
      for (const frontend of target.frontends) claimed.set(frontend, group.number);
    }
    for (const [frontend, group] of claimed) this.#claim(frontend, group);
    for (const group of [...(this.#services.get(name) ?? [])])
      for (const frontend of [...this.#groups.get(group)!.frontends])
        if (!claimed.has(frontend)) this.#release(frontend);
    for (const group of before) await this.#remove(name, group);
    if (hasRemoved || before.size > 0) this.#onBackendsRemoved();
  }

  /** Whether datagrams to an address of a service may go to a backend, as far as is known; endpoints as bytes. */
  hasDatagramBackend(service: Buffer, backend: Buffer): boolean {
    if (!this.#isKnown) return true;
    const group = this.#frontends.get(datagramFrontend(service).toString('latin1'));
    if (group === undefined) return false;
    return this.#groups.get(group)?.has(backend.toString('latin1')) ?? false;
  }

  /** The group that has most of the frontends already, or a new one. */
  #groupFor(name: string, { frontends }: Target, free: ReadonlySet<number>): GroupEntries {
    for (const frontend of frontends) {
      const number = this.#frontends.get(frontend);
      if (number !== undefined && free.has(number)) return this.#groups.get(number)!;
    }
    return this.#addGroup(new GroupEntries(this.#maps, this.#nextGroup++, name));
  }

  #addGroup(group: GroupEntries): GroupEntries {
    this.#groups.set(group.number, group);
    const groups = this.#services.get(group.name) ?? new Set();
    this.#services.set(group.name, groups.add(group.number));
    return group;
  }

  #claim(frontend: string, group: number): void {
    const before = this.#frontends.get(frontend);
    if (before === group) return;
    this.#maps.frontends.set(Buffer.from(frontend, 'latin1'), encodeNumber(group));
    if (before !== undefined) this.#groups.get(before)?.frontends.delete(frontend);
    this.#frontends.set(frontend, group);
    this.#groups.get(group)!.frontends.add(frontend);
  }

  #release(frontend: string): void {
    this.#maps.frontends.delete(Buffer.from(frontend, 'latin1'));
    const group = this.#frontends.get(frontend);
    this.#frontends.delete(frontend);
    if (group !== undefined) this.#groups.get(group)?.frontends.delete(frontend);
  }

  async #remove(name: string, number: number): Promise<void> {
    await this.#groups.get(number)!.remove(this.#clock);
    this.#groups.delete(number);
    const groups = this.#services.get(name)!;
    groups.delete(number);
    if (groups.size === 0) this.#services.delete(name);
  }

  async #read(): Promise<void> {
    const clock = this.#clock;
    const slices = new Slices(clock);
    this.#isKnown = false;
    this.#groups = new Map();
    this.#services = new Map();
    this.#frontends = new Map();
    this.#nextGroup = 1;
    await slices.each(await this.#maps.groups.entries(clock), ([key, value]) => {
      const head = decodeGroup(value);
      const number = key.readUInt32LE();
      this.#addGroup(new GroupEntries(this.#maps, number, head.name, head));
      this.#nextGroup = Math.max(this.#nextGroup, number + 1);
    });
    await slices.each(await this.#maps.slots.entries(clock), ([key, value]) =>
      this.#groups
        .get(key.readUInt32LE())
        ?.found('slot', key.readUInt32LE(4), value.toString('latin1')),
    );
    await slices.each(await this.#maps.members.entries(clock), ([key, value]) =>
      this.#groups
        .get(key.readUInt32LE())
        ?.found('member', value.readUInt32LE(), key.toString('latin1', 4)),
    );
    await slices.each(await this.#maps.frontends.entries(clock), ([key, value]) => {
      const text = key.toString('latin1');
      const group = value.readUInt32LE();
      this.#frontends.set(text, group);
      this.#groups.get(group)?.frontends.add(text);
    });
    this.#isKnown = true;
  }

  async #all(): Promise<SocketService[]> {
    const all: SocketService[] = [];
    await new Slices(this.#clock).each([...this.#services], ([name, numbers]) => {
      const mappings = [...numbers].map((number) => mappingOf(this.#groups.get(number)!));
      all.push({ name, mappings: mappings.sort((a, b) => compareText(keyOf(a), keyOf(b))) });
    });
    return all.sort((a, b) => compareText(a.name, b.name));
  }
}

function targetOf({ frontends, backends, affinityTimeout }: SocketMapping): Target {
  return {
    frontends: frontends.map((one) => encodeFrontend(one).toString('latin1')),
    weights: new Map(
      reduceWeights(backends).map((one) => [encodeEndpoint(one).toString('latin1'), one.weight]),
    ),
    affinityTimeout,
  };
}

function mappingOf({ frontends, weights, head }: GroupEntries): SocketMapping {
  const sorted = [...frontends].sort().map((one): Frontend => decodeFrontend(bytesOf(one)));
  const backends = [...weights()]
    .sort()
    .map(([text, weight]): SocketBackend => ({ ...decodeEndpoint(bytesOf(text)), weight }));
  return { frontends: sorted, backends, affinityTimeout: head.affinityTimeout };
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function keyOf({ frontends: [first] }: SocketMapping): string {
  return first ? encodeFrontend(first).toString('latin1') : '';
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
