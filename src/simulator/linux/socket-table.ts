import { isDeepStrictEqual } from 'node:util';
import type { Clock, Random } from '#infra/clock/clock.ts';
import {
  type Destination,
  type ExemptNamespace,
  type Frontend,
  type NodeAddress,
  nodePortFrontend,
  reduceWeights,
  type ServiceLink,
  type SocketBackend,
  type SocketMapping,
  type SocketService,
  type SocketTable,
  type SocketTableStatistics,
} from '#linux/socket-services/api.ts';

/** Outcome of a call of a socket: `unchanged` for an address that is no service's. */
export type SocketDecision =
  | { readonly to: 'unchanged' | 'refused' }
  | { readonly to: 'backend'; readonly address: string; readonly port: number };

interface Choice {
  readonly backend: SocketBackend;
  /** Milliseconds. */
  readonly at: number;
}

interface SimMapping {
  readonly mapping: SocketMapping;
  /** By network namespace. */
  readonly affinity: Map<string, Choice>;
}

/** The decisions of the kernel's programs, and the table that they read. */
export class SimSocketTable implements SocketTable {
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #services = new Map<string, readonly SimMapping[]>();
  readonly #frontends = new Map<string, SimMapping>();
  readonly #nodes = new Map<string, NodeAddress>();
  readonly #links = new Map<number, ServiceLink>();
  readonly #exemptions = new Map<string, ExemptNamespace>();
  /** Backends of datagram sockets, by socket and frontend. */
  readonly #flows = new Map<string, SocketBackend>();
  /** Calls whose program another process has removed. */
  readonly #stopped = new Set<'connect' | 'send'>();

  constructor(random: Random, clock: Clock) {
    this.#random = random;
    this.#clock = clock;
  }

  async put({ name, mappings }: SocketService): Promise<void> {
    const before = this.#services.get(name) ?? [];
    const desired = new Set(mappings.flatMap(({ frontends }) => frontends.map(textOf)));
    for (const one of before.flatMap(({ mapping }) => mapping.frontends.map(textOf)))
      if (!desired.has(one)) this.#frontends.delete(one);
    const unused = new Set(before);
    const after = mappings.map((one): SimMapping => {
      const mapping = { ...one, backends: reduceWeights(one.backends) };
      const former = this.#formerOf(mapping, unused);
      if (former) unused.delete(former);
      const changed = { mapping, affinity: former?.affinity ?? new Map() };
      for (const frontend of mapping.frontends) this.#frontends.set(textOf(frontend), changed);
      return changed;
    });
    if (after.length > 0) this.#services.set(name, after);
    else this.#services.delete(name);
  }

  /** The one that becomes this mapping: its addresses are all in it, or it has the same backends. */
  #formerOf(mapping: SocketMapping, unused: ReadonlySet<SimMapping>): SimMapping | undefined {
    const texts = new Set(mapping.frontends.map(textOf));
    return [...texts]
      .map((one) => this.#frontends.get(one))
      .find((one) => {
        if (!one || !unused.has(one)) return false;
        const left = one.mapping.frontends
          .map(textOf)
          .filter((frontend) => this.#frontends.get(frontend) === one);
        return (
          left.every((each) => texts.has(each)) ||
          isDeepStrictEqual(contentOf(one.mapping), contentOf(mapping))
        );
      });
  }

  async delete(name: string): Promise<void> {
    await this.put({ name, mappings: [] });
  }

  async services(): Promise<readonly SocketService[]> {
    return [...this.#services]
      .map(([name, mappings]) => ({
        name,
        mappings: mappings.map(({ mapping }) => ({
          ...mapping,
          frontends: sorted(mapping.frontends),
          backends: sorted(mapping.backends),
        })),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async putNodeAddress(one: NodeAddress): Promise<void> {
    this.#nodes.set(one.address, one);
  }

  async deleteNodeAddress(address: string): Promise<void> {
    this.#nodes.delete(address);
  }

  async nodeAddresses(): Promise<readonly NodeAddress[]> {
    return [...this.#nodes.values()];
  }

  async putLink(link: ServiceLink): Promise<void> {
    this.#links.set(link.index, link);
  }

  async deleteLink(index: number): Promise<void> {
    this.#links.delete(index);
  }

  async links(): Promise<readonly ServiceLink[]> {
    return [...this.#links.values()];
  }

  async exempt(namespace: ExemptNamespace): Promise<void> {
    this.#exemptions.set(namespace.name, namespace);
  }

  async endExemption(name: string): Promise<void> {
    this.#exemptions.delete(name);
  }

  async exemptNamespaces(): Promise<readonly ExemptNamespace[]> {
    return [...this.#exemptions.values()];
  }

  async resynced(): Promise<void> {}

  lostParts(): readonly string[] {
    return [...this.#stopped].map((name) => `no program runs at ${name}`);
  }

  async restore(): Promise<void> {
    this.#stopped.clear();
  }

  /** As a process does that removes the file of the program. */
  stop(call: 'connect' | 'send'): void {
    this.#stopped.add(call);
  }

  statistics(): SocketTableStatistics {
    return { maps: [], failedEnds: 0 };
  }

  async remove(): Promise<void> {
    this.#services.clear();
    this.#frontends.clear();
    this.#nodes.clear();
    this.#exemptions.clear();
    this.#links.clear();
  }

  /** A socket of a network namespace connects. @param namespace its path */
  connect(namespace: string, to: Destination): SocketDecision {
    const found = this.#stopped.has('connect') ? undefined : this.#mappingAt(namespace, to);
    if (!found) return { to: 'unchanged' };
    const backend = this.#choose(namespace, found);
    return backend ? decision(backend) : { to: 'refused' };
  }

  /** A socket of a network namespace sends a datagram without a connection. */
  send(namespace: string, socket: string, to: Destination): SocketDecision {
    const found = this.#stopped.has('send') ? undefined : this.#mappingAt(namespace, to);
    if (!found) return { to: 'unchanged' };
    const flow = `${namespace} ${socket} ${to.address} ${to.port}`;
    const known = this.#flows.get(flow);
    const backend =
      known && isMember(found.mapping, known) ? known : this.#choose(namespace, found);
    if (!backend) return { to: 'refused' };
    this.#flows.set(flow, backend);
    return decision(backend);
  }

  #mappingAt(namespace: string, to: Destination): SimMapping | undefined {
    if ([...this.#exemptions.values()].some(({ path }) => path === namespace)) return undefined;
    const found = this.#frontends.get(textOf({ ...to, scope: 'ADDRESS' }));
    const node = this.#nodes.get(to.address);
    return found ?? (node && this.#frontends.get(textOf(nodePortFrontend(node, to))));
  }

  #choose(namespace: string, { mapping, affinity }: SimMapping): SocketBackend | undefined {
    const { backends, affinityTimeout } = mapping;
    const now = this.#clock.monotonic();
    const last = affinityTimeout > 0 ? affinity.get(namespace) : undefined;
    const isKept =
      last !== undefined &&
      now - last.at <= affinityTimeout * 1000 &&
      isMember(mapping, last.backend);
    const backend = isKept ? last.backend : this.#draw(backends);
    if (backend && affinityTimeout > 0) affinity.set(namespace, { backend, at: now });
    return backend;
  }

  #draw(backends: readonly SocketBackend[]): SocketBackend | undefined {
    const slots = backends.reduce((all, { weight }) => all + weight, 0);
    let slot = Math.floor(this.#random.next() * slots);
    return backends.find(({ weight }) => {
      slot -= weight;
      return slot < 0;
    });
  }
}

function decision({ address, port }: SocketBackend): SocketDecision {
  return { to: 'backend', address, port };
}

/** Properties that all addresses of a mapping have in common. */
function contentOf({ backends, affinityTimeout, hostSource }: SocketMapping): unknown {
  return { backends: sorted(backends), affinityTimeout, hostSource };
}

function isMember({ backends }: SocketMapping, { address, port }: SocketBackend): boolean {
  return backends.some((one) => one.address === address && one.port === port);
}

function textOf({ address, port, protocol, scope }: Frontend): string {
  return `${protocol} ${scope} ${address} ${port}`;
}

function sorted<T extends { readonly address: string; readonly port: number }>(
  list: readonly T[],
): readonly T[] {
  return list.toSorted((a, b) =>
    a.address === b.address ? a.port - b.port : a.address < b.address ? -1 : 1,
  );
}
