import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { LinuxError, NamespaceNotFoundError, type NamespacePath } from '../api.ts';
import { type MapEntries, MapFullError } from '../bpf/map.ts';
import { Refusal } from '../netlink/refusal.ts';
import {
  type ExemptNamespace,
  type Frontend,
  type NodeAddress,
  reduceWeights,
  type SocketBackend,
  type SocketMapping,
  type SocketService,
  type SocketTable,
} from './api.ts';
import { ExemptionEntries } from './exemption-entries.ts';
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
import { NodeAddressEntries } from './node-address-entries.ts';

export type SocketMaps = Readonly<
  Record<'frontends' | 'nodes' | 'exemptions' | 'groups' | 'slots' | 'members', MapEntries>
>;

export interface NamespaceCookies {
  /** The number by which programs know a network namespace. Rejects with a NamespaceNotFoundError. */
  namespaceCookie(namespace: NamespacePath): Promise<bigint>;
}

/**
 * The service of entries whose group has lost its own entry, which nothing but a fault outside of the agent can
 * cause. As it is a service like all others, a resync deletes it.
 */
const LOST_NAME = 'lost:entries';

/** A mapping as entries of maps; endpoints and frontends as text of their bytes (`latin1`). */
interface Target {
  readonly frontends: readonly string[];
  readonly weights: ReadonlyMap<string, number>;
  readonly affinityTimeout: number;
}

export interface SocketPrograms {
  /** Whether they run; until then sockets are translated by those of an earlier agent, with its table. */
  readonly areActive: boolean;
  activate(): void;
  /** Removes programs and maps from the kernel. */
  uninstall(): void;
}

export interface KernelTableDeps {
  readonly maps: SocketMaps;
  readonly namespaces: NamespaceCookies;
  readonly clock: Clock;
  readonly programs: SocketPrograms;
  /** Called when backends were removed, or may have been: while no agent ran, or by a change that failed. */
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
  readonly #programs: SocketPrograms;
  readonly #onBackendsRemoved: () => void;
  #groups = new Map<number, GroupEntries>();
  /** Numbers of the groups of a service. */
  #services = new Map<string, Set<number>>();
  #frontends = new Map<string, number>();
  readonly #nodes: NodeAddressEntries;
  readonly #exemptions: ExemptionEntries;
  readonly #namespaces: NamespaceCookies;
  #isKnown = false;
  #nextGroup = 1;
  /** The last call. */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ maps, namespaces, clock, programs, onBackendsRemoved }: KernelTableDeps) {
    this.#maps = maps;
    this.#clock = clock;
    this.#slices = new Slices(clock);
    this.#programs = programs;
    this.#onBackendsRemoved = onBackendsRemoved;
    this.#nodes = new NodeAddressEntries(maps.nodes);
    this.#exemptions = new ExemptionEntries(maps.exemptions);
    this.#namespaces = namespaces;
  }

  put(service: SocketService): Promise<void> {
    return this.#next(`socket service ${service.name}`, () => this.#changeService(service));
  }

  delete(name: string): Promise<void> {
    return this.#next(`socket service ${name}`, () => this.#changeService({ name, mappings: [] }));
  }

  services(): Promise<readonly SocketService[]> {
    return this.#next('socket services', async () => {
      await this.#read();
      return await this.#all();
    });
  }

  putNodeAddress(one: NodeAddress): Promise<void> {
    return this.#next(`node address ${one.address}`, () =>
      this.#changeNodeAddresses(() => this.#nodes.set(one)),
    );
  }

  deleteNodeAddress(address: string): Promise<void> {
    return this.#next(`node address ${address}`, () =>
      this.#changeNodeAddresses(() => this.#nodes.delete(address)),
    );
  }

  nodeAddresses(): Promise<readonly NodeAddress[]> {
    return this.#next('node addresses', async () => {
      await this.#nodes.read(this.#clock);
      return this.#nodes.all();
    });
  }

  exempt(namespace: ExemptNamespace): Promise<void> {
    return this.#next(`exemption ${namespace.name}`, async () => {
      await this.#begin();
      const cookie = await this.#namespaces.namespaceCookie(namespace.path);
      this.#exemptions.set(namespace, cookie);
    });
  }

  endExemption(name: string): Promise<void> {
    return this.#next(`exemption ${name}`, async () => {
      await this.#begin();
      this.#exemptions.delete(name);
    });
  }

  exemptNamespaces(): Promise<readonly ExemptNamespace[]> {
    return this.#next('exemptions', async () => {
      await this.#exemptions.read(this.#clock);
      return this.#exemptions.all();
    });
  }

  /** A table that cannot be read was not filled. */
  activate(): Promise<void> {
    return this.#next('programs of socket services', async () => {
      if (this.#programs.areActive) return;
      await this.#begin();
      this.#programs.activate();
    });
  }

  remove(): Promise<void> {
    return this.#next('socket services', async () => this.#programs.uninstall());
  }

  #next<T>(where: string, work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work).catch((thrown: unknown) => {
      // before a write: the table is as it was
      if (thrown instanceof NamespaceNotFoundError || thrown instanceof LinuxError) throw thrown;
      this.#isKnown = false;
      if (!(thrown instanceof Refusal)) throw thrown;
      const text =
        thrown instanceof MapFullError
          ? `${thrown.message}; remove services or backends, or set disableSocketServices, with which VPP has all services`
          : thrown.message;
      throw new LinuxError(text, { where, errno: thrown.errno });
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Before a change. */
  async #begin(): Promise<void> {
    if (!this.#isKnown) await this.#read();
    if (this.#slices.due()) await this.#slices.turn();
  }

  /** @param change returns whether clients may have lost their backends */
  async #changeNodeAddresses(change: () => boolean): Promise<void> {
    await this.#begin();
    if (change()) this.#onBackendsRemoved();
  }

  /** Entries of a change that failed would take the place of others, and of its repetition. */
  async #changeService(service: SocketService): Promise<void> {
    await this.#begin();
    try {
      await this.#put(service);
    } catch (thrown) {
      if (thrown instanceof Refusal) await this.#deleteUnused(service.name);
      throw thrown;
    }
  }

  /**
   * Groups are filled before clients find them, and go after clients find them no more. An address leaves a group
   * before the backends of the others change: clients never get those of another address.
   */
  async #put({ name, mappings }: SocketService): Promise<void> {
    const targets = mappings.map(targetOf);
    const desired = new Set(targets.flatMap(({ frontends }) => frontends));
    const unused = new Set(this.#services.get(name));
    for (const number of unused)
      for (const frontend of this.#groups.get(number)!.frontends)
        if (!desired.has(frontend)) this.#release(frontend);
    for (const target of targets) {
      const group = this.#groupFor(name, target, unused);
      unused.delete(group.number);
      const hasRemoved = await group.fill(target.weights, target.affinityTimeout, this.#clock);
      if (hasRemoved) this.#onBackendsRemoved();
      for (const frontend of target.frontends) this.#claim(frontend, group.number);
    }
    for (const number of unused) await this.#remove(name, number);
  }

  async #deleteUnused(name: string): Promise<void> {
    await this.#read();
    for (const number of [...(this.#services.get(name) ?? [])]) {
      const group = this.#groups.get(number)!;
      if (group.frontends.size === 0) await this.#remove(name, number);
      else await group.deleteUnused(this.#clock);
    }
  }

  /** Whether datagrams to an address of a service may go to a backend, as far as is known; endpoints as bytes. */
  hasDatagramBackend(service: Buffer, backend: Buffer): boolean {
    if (!this.#isKnown) return true;
    const group = this.#groupAt(datagramFrontend(service));
    if (group === undefined) return false;
    return this.#groups.get(group)?.has(backend.toString('latin1')) ?? false;
  }

  /** The group that clients of an address reach. */
  #groupAt(asked: Buffer): number | undefined {
    const found = this.#frontends.get(asked.toString('latin1'));
    if (found !== undefined) return found;
    const nodePort = this.#nodes.nodePortAt(asked);
    return nodePort && this.#frontends.get(nodePort.toString('latin1'));
  }

  /** One whose addresses are all to be in the target, or that is as the target; otherwise a new group. */
  #groupFor(name: string, target: Target, unused: ReadonlySet<number>): GroupEntries {
    const frontends = new Set(target.frontends);
    for (const frontend of frontends) {
      const number = this.#frontends.get(frontend);
      if (number === undefined || !unused.has(number)) continue;
      const group = this.#groups.get(number)!;
      const isItsOwn = [...group.frontends].every((one) => frontends.has(one));
      if (isItsOwn || isDeepStrictEqual(contentOf(group), contentOf(target))) return group;
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
    const bytes = bytesOf(frontend);
    const reached = this.#groupAt(bytes);
    this.#maps.frontends.set(bytes, encodeNumber(group));
    this.#frontends.set(frontend, group);
    this.#groups.get(group)!.frontends.add(frontend);
    if (before !== undefined) this.#groups.get(before)!.frontends.delete(frontend);
    if (reached !== undefined) this.#onBackendsRemoved();
  }

  #release(frontend: string): void {
    this.#maps.frontends.delete(bytesOf(frontend));
    this.#groups.get(this.#frontends.get(frontend)!)!.frontends.delete(frontend);
    this.#frontends.delete(frontend);
    this.#onBackendsRemoved();
  }

  async #remove(name: string, number: number): Promise<void> {
    await this.#groups.get(number)!.remove(this.#clock);
    this.#groups.delete(number);
    const groups = this.#services.get(name)!;
    groups.delete(number);
    if (groups.size === 0) this.#services.delete(name);
  }

  /** Reading what is known has no effect. Of an earlier agent, or a change that failed, sockets may be left to be ended. */
  async #read(): Promise<void> {
    const clock = this.#clock;
    const slices = new Slices(clock);
    const wasKnown = this.#isKnown;
    this.#isKnown = false;
    this.#groups = new Map();
    this.#services = new Map();
    this.#frontends = new Map();
    await slices.each(await this.#maps.groups.entries(clock), ([key, value]) => {
      const head = decodeGroup(value);
      this.#addGroup(new GroupEntries(this.#maps, key.readUInt32LE(), head.name, head));
    });
    await slices.each(await this.#maps.slots.entries(clock), ([key, value]) =>
      this.#foundGroup(key.readUInt32LE()).found(
        'slot',
        key.readUInt32LE(4),
        value.toString('latin1'),
      ),
    );
    await slices.each(await this.#maps.members.entries(clock), ([key, value]) =>
      this.#foundGroup(key.readUInt32LE()).found(
        'member',
        value.readUInt32LE(),
        key.toString('latin1', 4),
      ),
    );
    await slices.each(await this.#maps.frontends.entries(clock), ([key, value]) => {
      const text = key.toString('latin1');
      const group = this.#foundGroup(value.readUInt32LE());
      this.#frontends.set(text, group.number);
      group.frontends.add(text);
    });
    await this.#nodes.read(clock);
    await this.#exemptions.read(clock);
    this.#nextGroup = [...this.#groups.keys()].reduce((all, one) => Math.max(all, one), 0) + 1;
    this.#isKnown = true;
    if (!wasKnown) this.#onBackendsRemoved();
  }

  /** The group of an entry; without an entry of its own it is one of the lost service. */
  #foundGroup(number: number): GroupEntries {
    return (
      this.#groups.get(number) ?? this.#addGroup(new GroupEntries(this.#maps, number, LOST_NAME))
    );
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

/** Properties that all addresses of a group have in common. */
function contentOf(of: Target | GroupEntries): unknown {
  return of instanceof GroupEntries
    ? [of.weights(), of.head.affinityTimeout]
    : [of.weights, of.affinityTimeout];
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
