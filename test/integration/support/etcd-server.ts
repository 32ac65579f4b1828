/**
 * An etcd on loopback as clients see it: one process, a cluster of three, or one behind `etcd grpc-proxy`. The variable
 * ETCD_TOPOLOGY selects for all suites.
 */
import { EtcdStore } from '#datastore/etcd/store.ts';
import { systemClock } from '#infra/clock/system.ts';
import { EtcdMember } from './etcd-member.ts';
import { EtcdProxy } from './etcd-proxy.ts';
import { freePort } from './free-port.ts';

/** Another process may take a port before etcd binds it. */
const ATTEMPTS = 5;

interface Topology {
  readonly members: 1 | 3;
  readonly proxies: 0 | 1 | 2;
}

const topologies = {
  direct: { members: 1, proxies: 0 },
  proxy: { members: 1, proxies: 1 },
  three: { members: 3, proxies: 0 },
  proxies: { members: 1, proxies: 2 },
} as const satisfies Record<string, Topology>;

export type EtcdRoute = keyof typeof topologies;

/** By the value of ETCD_TOPOLOGY. */
const routesOf: Readonly<Record<string, Readonly<Record<string, EtcdRoute>>>> = {
  one: { etcd: 'direct', 'etcd grpc-proxy': 'proxy' },
  three: { 'etcd of three members': 'three' },
  proxies: { 'etcd behind two proxies': 'proxies' },
};

function selectedRoutes(): Readonly<Record<string, EtcdRoute>> {
  const name = process.env['ETCD_TOPOLOGY'] || 'one';
  const selected = routesOf[name];
  if (!selected) throw new Error(`ETCD_TOPOLOGY=${name} is none of ${Object.keys(routesOf)}`);
  return selected;
}

/** Ways from a client to etcd: the suites of the store run with each. */
export const etcdRoutes = selectedRoutes();

/** That of the suites that run with one. */
export const etcdRoute = Object.values(etcdRoutes)[0]!;

export interface EtcdServerOptions {
  readonly route?: EtcdRoute;
  /** Of etcd; those of TLS that the proxies have, too, are passed on to them. */
  readonly flags?: readonly string[];
  /** Of the proxies alone: with what they connect to etcd. */
  readonly proxyFlags?: readonly string[];
}

/** Flags of the side of a server, which etcd and its proxy share. */
const SHARED_FLAGS = /^--(cert-file|key-file|trusted-ca-file)=/;

export class EtcdServer {
  readonly #members: readonly [EtcdMember, ...EtcdMember[]];
  readonly #proxies: readonly EtcdProxy[];

  static start(...flags: string[]): Promise<EtcdServer> {
    return EtcdServer.startWith({ flags });
  }

  static async startWith(options: EtcdServerOptions): Promise<EtcdServer> {
    for (let attempt = 1; ; attempt++) {
      const server = await EtcdServer.#make(options);
      try {
        await server.run();
        return server;
      } catch (error) {
        await server.close();
        if (attempt === ATTEMPTS) throw error;
      }
    }
  }

  static async #make({
    route = etcdRoute,
    flags = [],
    proxyFlags = [],
  }: EtcdServerOptions): Promise<EtcdServer> {
    const topology = topologies[route];
    const members: EtcdMember[] = [];
    if (topology.members === 1) members.push(await EtcdMember.create({ flags }));
    else
      for (const name of ['m0', 'm1', 'm2'])
        members.push(
          await EtcdMember.create({
            name,
            cluster: () => members.map((member) => [member.name, member] as const),
            flags,
          }),
        );
    const [first, ...others] = members;
    const proxies: EtcdProxy[] = [];
    for (let count = 0; count < topology.proxies; count++)
      proxies.push(
        new EtcdProxy({
          serverPorts: members.map((member) => member.port),
          port: await freePort(),
          folder: first!.folder,
          flags: [...flags.filter((flag) => SHARED_FLAGS.test(flag)), ...proxyFlags],
        }),
      );
    return new EtcdServer([first!, ...others], proxies);
  }

  private constructor(
    members: readonly [EtcdMember, ...EtcdMember[]],
    proxies: readonly EtcdProxy[],
  ) {
    this.#members = members;
    this.#proxies = proxies;
  }

  /** For clients: of the members, or of the proxies before them. */
  get ports(): readonly number[] {
    const all = this.#proxies.length > 0 ? this.#proxies : this.#members;
    return all.map(({ port }) => port);
  }

  get port(): number {
    return this.ports[0]!;
  }

  /** Past the proxies. */
  get memberPorts(): readonly number[] {
    return this.#members.map(({ port }) => port);
  }

  /** @throws if there is none at the moment */
  leader(): EtcdMember {
    const found = this.#members.find((member) => member.isLeader());
    if (!found) throw new Error('no member is the leader');
    return found;
  }

  get proxies(): readonly EtcdProxy[] {
    return this.#proxies;
  }

  get pid(): number {
    return this.#members[0].pid;
  }

  /** Another proxy before it, which the caller closes. */
  async proxy(): Promise<EtcdProxy> {
    const [{ folder }] = this.#members;
    return new EtcdProxy({ serverPorts: this.memberPorts, port: await freePort(), folder });
  }

  /** Starts those that do not run, on the data of their folders; with TLS they may not answer yet. */
  async run(): Promise<void> {
    for (const member of this.#members) if (!member.isLaunched) member.launch();
    if (this.#members[0].isSecure) return;
    for (const port of this.ports) {
      const store = this.store(port);
      while ((await store.probe().catch((error) => error)) !== undefined) {
        for (const member of this.#members) member.assertRunning();
        for (const { exitCode } of this.#proxies)
          if (exitCode !== null) throw new Error(`a proxy ended with exit code ${exitCode}`);
        await systemClock.sleep(20);
      }
      await store.close();
    }
  }

  /** @param operationTimeoutMs short by default, for tests of time limits */
  store(ports: number | readonly number[] = this.ports, operationTimeoutMs = 1000): EtcdStore {
    return new EtcdStore(
      {
        endpoints: [ports].flat().map((port) => `127.0.0.1:${port}`),
        operationTimeoutMs,
        reconnectIntervalMs: 200,
      },
      systemClock,
    );
  }

  async kill(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.kill()));
  }

  async suspend(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.suspend()));
  }

  resume(): void {
    for (const member of this.#members) member.resume();
  }

  /** Ends the processes and deletes the data; `run` starts an empty database. */
  async wipe(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.wipe()));
  }

  /** Writes a backup to a file. @returns the revision of its last change */
  backup(file: string): number {
    return this.#members[0].backup(file);
  }

  /** Ends the processes and replaces the data by a backup; `run` starts them. */
  async restore(file: string): Promise<void> {
    for (const member of this.#members) await member.restore(file);
  }

  /** Revision of the last change. */
  revision(): number {
    return Math.max(...this.#members.map((member) => member.revision()));
  }

  /** Compacts the history up to now. */
  compact(): Promise<void> {
    return this.#members[0].compact();
  }

  async close(): Promise<void> {
    for (const proxy of this.#proxies) await proxy.close();
    await Promise.all(this.#members.map((member) => member.close()));
  }
}
