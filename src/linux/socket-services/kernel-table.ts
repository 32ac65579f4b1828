import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { LinuxError, NamespaceNotFoundError, type NamespacePath } from '../api.ts';
import { type MapEntries, MapFullError } from '../bpf/map.ts';
import { Refusal } from '../netlink/refusal.ts';
import {
  type ExemptNamespace,
  type NodeAddress,
  reduceWeights,
  type ServiceLink,
  type SocketMapping,
  type SocketService,
  type SocketTable,
  type SocketTableStatistics,
} from './api.ts';
import { ExemptionEntries } from './exemption-entries.ts';
import { GroupEntries, type GroupProperties } from './group-entries.ts';
import { KnownGroups } from './known-groups.ts';
import {
  datagramFrontend,
  encodeEndpoint,
  encodeFrontend,
  encodeNumber,
  type LimitedMapName,
  shapes,
} from './layout.ts';
import { LinkEntries, type PacketPrograms } from './link-entries.ts';
import { ServiceLinksUnavailableError } from './link-programs.ts';
import { NodeAddressEntries } from './node-address-entries.ts';

export type SocketMaps = Readonly<
  Record<
    'frontends' | 'nodes' | 'exemptions' | 'groups' | 'slots' | 'members' | 'links',
    MapEntries
  >
>;

export interface NamespaceCookies {
  /** The number by which programs know a network namespace. Rejects with a NamespaceNotFoundError. */
  namespaceCookie(namespace: NamespacePath): Promise<bigint>;
}

/** A mapping as entries of maps; endpoints and frontends as text of their bytes (`latin1`). */
interface Target extends GroupProperties {
  readonly frontends: readonly string[];
  readonly weights: ReadonlyMap<string, number>;
}

export interface SocketPrograms {
  /** Whether they run; until then sockets are translated by those of an earlier agent, with its table. */
  readonly areActive: boolean;
  activate(): void;
  /** Of programs that run, and of the files by which the next agent finds them and the maps. */
  lostParts(): readonly string[];
  restore(): void;
  /** Removes programs and maps from the kernel. */
  uninstall(): void;
}

/** Connected sockets of removed backends. */
export interface StaleSockets {
  /** Has them ended. Backends were removed, or may have been, also while no agent ran. */
  request(): void;
  /** Failures to end them. */
  readonly failures: number;
  /** Connected sockets of datagrams, with those that are not stale, when they were searched last. */
  readonly connections: number;
}

export interface KernelTableDeps {
  readonly maps: SocketMaps;
  readonly namespaces: NamespaceCookies;
  readonly clock: Clock;
  readonly programs: SocketPrograms;
  readonly packets: PacketPrograms;
  readonly stale: StaleSockets;
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
  readonly #stale: StaleSockets;
  #groups: KnownGroups;
  readonly #nodes: NodeAddressEntries;
  readonly #exemptions: ExemptionEntries;
  readonly #links: LinkEntries;
  readonly #namespaces: NamespaceCookies;
  /** Also while it is read again. */
  #isKnown = false;
  /** Sockets were not looked at since a change that failed, or since the start. */
  #isUnchecked = true;
  /** The last call. */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ maps, namespaces, clock, programs, packets, stale }: KernelTableDeps) {
    this.#maps = maps;
    this.#groups = new KnownGroups(maps);
    this.#clock = clock;
    this.#slices = new Slices(clock);
    this.#programs = programs;
    this.#stale = stale;
    this.#nodes = new NodeAddressEntries(maps.nodes);
    this.#exemptions = new ExemptionEntries(maps.exemptions);
    this.#links = new LinkEntries(maps.links, packets);
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
      return await this.#groups.services(this.#clock);
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

  putLink(link: ServiceLink): Promise<void> {
    return this.#next(`link ${link.index}`, async () => {
      await this.#begin();
      this.#links.set(link);
    });
  }

  deleteLink(index: number): Promise<void> {
    return this.#next(`link ${index}`, async () => {
      await this.#begin();
      this.#links.delete(index);
    });
  }

  links(): Promise<readonly ServiceLink[]> {
    return this.#next('links', async () => {
      await this.#links.read(this.#clock);
      return this.#links.all();
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
  resynced(): Promise<void> {
    return this.#next('socket services', async () => {
      if (!this.#programs.areActive) {
        await this.#begin();
        this.#programs.activate();
      }
      this.#stale.request();
    });
  }

  lostParts(): readonly string[] {
    return this.#programs.lostParts();
  }

  restore(): Promise<void> {
    return this.#next('socket services', async () => {
      if (this.#programs.lostParts().length > 0) this.#programs.restore();
    });
  }

  statistics(): SocketTableStatistics {
    const { connections, failures } = this.#stale;
    const entries: Readonly<Record<LimitedMapName, number>> = {
      ...this.#groups.sizes(),
      nodes: this.#nodes.size,
      exemptions: this.#exemptions.size,
      links: this.#links.size,
      connections,
    };
    const names = Object.keys(entries) as LimitedMapName[];
    return {
      maps: names.map((name) => ({
        name,
        entries: entries[name],
        capacity: shapes[name].maxEntries,
      })),
      failedEnds: failures,
    };
  }

  remove(): Promise<void> {
    return this.#next('socket services', async () => this.#programs.uninstall());
  }

  #next<T>(where: string, work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work).catch((thrown: unknown) => {
      // what the table has is known: nothing was written, or it was read again
      if (isKnownRefusal(thrown)) throw thrown;
      this.#isKnown = false;
      this.#isUnchecked = true;
      throw thrown instanceof Refusal ? refused(thrown, where) : thrown;
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Before a change. */
  async #begin(): Promise<void> {
    if (!this.#isKnown) await this.#read();
    if (this.#isUnchecked) this.#stale.request();
    this.#isUnchecked = false;
    if (this.#slices.due()) await this.#slices.turn();
  }

  /** @param change returns whether clients may have lost their backends */
  async #changeNodeAddresses(change: () => boolean): Promise<void> {
    await this.#begin();
    if (change()) this.#stale.request();
  }

  /** Entries of a change that failed would take the place of others, and of its repetition. */
  async #changeService(service: SocketService): Promise<void> {
    await this.#begin();
    try {
      await this.#put(service);
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown;
      await this.#deleteUnused(service.name);
      throw refused(thrown, `socket service ${service.name}`);
    }
  }

  /**
   * Groups are filled before clients find them, and go after clients find them no more. An address leaves a group
   * before the backends of the others change: clients never get those of another address.
   */
  async #put({ name, mappings }: SocketService): Promise<void> {
    const targets = mappings.map(targetOf);
    const desired = new Set(targets.flatMap(({ frontends }) => frontends));
    const unused = new Set(this.#groups.numbers(name));
    for (const number of unused)
      for (const frontend of this.#groups.get(number).frontends)
        if (!desired.has(frontend)) this.#release(frontend);
    for (const target of targets) {
      const group = this.#groupFor(name, target, unused);
      unused.delete(group.number);
      const hasRemoved = await group.fill(target.weights, target, this.#clock);
      if (hasRemoved) this.#stale.request();
      for (const frontend of target.frontends) this.#claim(frontend, group);
    }
    for (const number of unused) await this.#remove(number);
  }

  async #deleteUnused(name: string): Promise<void> {
    await this.#read();
    for (const number of [...this.#groups.numbers(name)]) {
      const group = this.#groups.get(number);
      if (group.frontends.size === 0) await this.#remove(number);
      else await group.deleteUnused(this.#clock);
    }
    this.#stale.request();
  }

  /** Whether datagrams to an address of a service may go to a backend, as far as is known; endpoints as bytes. */
  hasDatagramBackend(service: Buffer, backend: Buffer): boolean {
    if (!this.#isKnown) return true;
    const group = this.#groupAt(datagramFrontend(service));
    if (group === undefined) return false;
    return this.#groups.get(group).has(backend.toString('latin1'));
  }

  /** Number of the group that clients of an address reach. */
  #groupAt(asked: Buffer): number | undefined {
    const found = this.#groups.at(asked.toString('latin1'));
    if (found !== undefined) return found;
    const nodePort = this.#nodes.nodePortAt(asked);
    return nodePort && this.#groups.at(nodePort.toString('latin1'));
  }

  /** One whose addresses are all to be in the target, or that is as the target; otherwise a new group. */
  #groupFor(name: string, target: Target, unused: ReadonlySet<number>): GroupEntries {
    const frontends = new Set(target.frontends);
    for (const frontend of frontends) {
      const number = this.#groups.at(frontend);
      if (number === undefined || !unused.has(number)) continue;
      const group = this.#groups.get(number);
      const isItsOwn = [...group.frontends].every((one) => frontends.has(one));
      if (isItsOwn || isDeepStrictEqual(contentOf(group), contentOf(target))) return group;
    }
    return this.#groups.create(name);
  }

  #claim(frontend: string, group: GroupEntries): void {
    if (this.#groups.at(frontend) === group.number) return;
    const bytes = bytesOf(frontend);
    const reached = this.#groupAt(bytes);
    this.#maps.frontends.set(bytes, encodeNumber(group.number));
    this.#groups.setFrontend(frontend, group);
    if (reached !== undefined) this.#stale.request();
  }

  #release(frontend: string): void {
    this.#maps.frontends.delete(bytesOf(frontend));
    this.#groups.deleteFrontend(frontend);
    this.#stale.request();
  }

  async #remove(number: number): Promise<void> {
    await this.#groups.get(number).remove(this.#clock);
    this.#groups.delete(number);
  }

  /** Changes nothing. What is known stays known meanwhile. */
  async #read(): Promise<void> {
    this.#groups = await KnownGroups.read(this.#maps, this.#clock);
    await this.#nodes.read(this.#clock);
    await this.#exemptions.read(this.#clock);
    await this.#links.read(this.#clock);
    this.#isKnown = true;
  }
}

function isKnownRefusal(thrown: unknown): boolean {
  return (
    thrown instanceof NamespaceNotFoundError ||
    thrown instanceof ServiceLinksUnavailableError ||
    thrown instanceof LinuxError
  );
}

function refused(refusal: Refusal, where: string): LinuxError {
  const text =
    refusal instanceof MapFullError
      ? `${refusal.message}; remove services or backends, or set disableSocketServices, with which VPP has all services`
      : refusal.message;
  return new LinuxError(text, { where, errno: refusal.errno });
}

/** Properties that all addresses of a group have in common. */
function contentOf(of: Target | GroupEntries): unknown {
  const [weights, { affinityTimeout, hostSource }] =
    of instanceof GroupEntries ? [of.weights(), of.head] : [of.weights, of];
  return { weights, affinityTimeout, hostSource };
}

function targetOf({ frontends, backends, affinityTimeout, hostSource }: SocketMapping): Target {
  return {
    frontends: frontends.map((one) => encodeFrontend(one).toString('latin1')),
    weights: new Map(
      reduceWeights(backends).map((one) => [encodeEndpoint(one).toString('latin1'), one.weight]),
    ),
    affinityTimeout,
    hostSource,
  };
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
