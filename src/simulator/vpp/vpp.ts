import { rmSync } from 'node:fs';
import type { Server } from 'node:net';
import type { Clock, Random } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { DeviceMemory } from '#packet-trace/memory.ts';
import type { StatsPort } from '#plugins/controller/api/ports/stats.ts';
import { type Connect, type Transport, VppDisconnectedError } from '#vpp/binapi/api.ts';
import { bundledCatalog, type Catalog } from '#vpp/binapi/catalog.ts';
import { type Peer, type ServerHandlers, serveClient } from '#vpp/binapi/server.ts';
import { memoryConnect } from '#vpp/binapi/transport/memory.ts';
import { unixListen } from '#vpp/binapi/transport/unix.ts';
import { appendRecord, FaultPlan } from '../faults.ts';
import type { SimLinux } from '../linux/linux.ts';
import { SimDhcpServer } from './dhcp.ts';
import { SimNics } from './nics.ts';
import { retval } from './retval.ts';
import type { TrafficCounters } from './traffic-counters.ts';
import { type SimVppProcess, startProcess } from './vpp-process.ts';
import { WireguardLinks } from './wireguard-links.ts';

/** A received message of a client. */
export interface VppRequest {
  readonly name: string;
  /** A dump changes nothing and has no retval. */
  readonly kind: 'request' | 'dump';
  readonly fields: object;
}

/** `before`: the message is not executed. `after`: it is executed, but not answered. */
type When = 'before' | 'after';

export type VppFault =
  /** Answered with this retval, not executed. */
  | { readonly refuse: number }
  /** This and all later messages of the client are never answered. */
  | { readonly hang: When }
  /** The connection is closed. */
  | { readonly disconnect: When }
  /** VPP crashes. */
  | { readonly crash: When };

export interface SimVppOptions {
  /** The machine that VPP runs on; without it, TAPs have no host end and no host links exist. */
  readonly host?: SimLinux;
  /** Names of the NICs with a VPP driver. */
  readonly nics?: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Shared by the VPPs of a cluster; default: of its own, where each peer answers. */
  readonly wireguardLinks?: WireguardLinks;
  /** Messages of the simulated release; default: the bundled ones. */
  readonly catalog?: Catalog;
  /** Whether `requests` has the latest messages, up to 200 MB of them; default: true. */
  readonly keepsRequests?: boolean;
}

type AnyHandler = (fields: object, peer: Peer) => unknown;
const neverSettles = new Promise<never>(() => undefined);

/**
 * A simulated VPP that serves the binary API and answers as VPP 26.06 does, including errors and
 * oddities. It starts in the constructor; `crash` ends its process and `start` starts a new one.
 */
export class SimVpp {
  readonly #options: SimVppOptions;
  readonly #catalog: Catalog;
  readonly #peers = new Map<Peer, SimVppProcess>();
  readonly #listening = new Map<string, Server>();
  readonly #paths = new Set<string>();
  #process: SimVppProcess | undefined;
  #clients = 0;

  /** The DHCP server that its DHCP clients use. */
  readonly dhcpServer = new SimDhcpServer();
  readonly wireguardLinks: WireguardLinks;
  /** The NICs that VPP finds when it starts. */
  readonly nics: SimNics;
  /** The latest messages, in order, including rejected ones, without control_ping. */
  readonly requests: VppRequest[] = [];
  /** Injected faults; they apply to requests and dumps except control_ping. */
  readonly faults = new FaultPlan<VppRequest, VppFault>();
  /**
   * Called before and after each message except control_ping, so that a test can crash its agent or
   * VPP there. If it crashes VPP before the message, the message is not executed.
   */
  onRequest: ((when: When, request: VppRequest) => void | Promise<void>) | undefined;

  constructor(options: SimVppOptions) {
    this.#options = options;
    this.#catalog = options.catalog ?? bundledCatalog();
    this.wireguardLinks = options.wireguardLinks ?? new WireguardLinks();
    this.nics = new SimNics(options.nics ?? []);
    void this.start();
  }

  get isRunning(): boolean {
    return this.#process !== undefined;
  }

  /**
   * The sessions of NAT44 and ACLs of the process: memory for packet traces, which take the place of
   * traffic. VPP itself forwards no packets.
   */
  get memory(): DeviceMemory {
    if (!this.#process) throw new VppDisconnectedError('the simulated VPP is not running');
    return this.#process.memory;
  }

  /** Counts simulated packets; undefined while VPP is not running. */
  get traffic(): TrafficCounters | undefined {
    return this.#process?.traffic;
  }

  /** In place of a statistics segment. Its calls reject while VPP is not running. */
  get statistics(): StatsPort {
    const current = async () => {
      if (!this.#process) throw new VppDisconnectedError('the simulated VPP is not running');
      return this.#process.statistics;
    };
    return {
      interfaces: async () => (await current()).interfaces(),
      nodeErrors: async () => (await current()).nodeErrors(),
      nodes: async () => (await current()).nodes(),
      system: async () => (await current()).system(),
      natSessions: async () => (await current()).natSessions(),
      natPackets: async () => (await current()).natPackets(),
    };
  }

  /** Whether it reaches the namespaces of pods by the paths of the agent; false: as in a container of its own. */
  seesNamespaces = true;
  readonly namespaces = { sees: async () => this.seesNamespaces };

  /** Starts a new process with empty state, and listens on the same sockets as before. */
  async start(): Promise<void> {
    if (this.#process) return;
    const { host, clock, random, log } = this.#options;
    const crash = (why: string) => {
      log.error({ why }, 'simulated VPP crashes, as VPP does');
      this.crash();
    };
    this.#process = startProcess({
      host,
      clock,
      random,
      dhcpServer: this.dhcpServer,
      nics: this.nics,
      wireguardLinks: this.wireguardLinks,
      crash,
    });
    for (const path of this.#paths) await this.listen(path);
  }

  /** Closes all connections and drops all state; TAPs disappear from the host, other links stay. */
  crash(): void {
    const vppProcess = this.#process;
    if (!vppProcess) return;
    this.#process = undefined;
    for (const server of this.#listening.values()) server.close();
    this.#listening.clear();
    for (const peer of [...this.#peers.keys()]) peer.close();
    this.#peers.clear();
    vppProcess.end();
  }

  /** For clients in this process. Connecting fails while VPP is down. */
  connect(): Connect {
    const open = memoryConnect((transport) => this.#serve(transport));
    return async () => {
      if (!this.#process) throw new VppDisconnectedError('the simulated VPP is not running');
      return open();
    };
  }

  /** Serves a unix socket, now and after each start. */
  async listen(path: string): Promise<void> {
    this.#paths.add(path);
    if (!this.#process || this.#listening.has(path)) return;
    rmSync(path, { force: true });
    const server = await unixListen(path, this.#options.clock, (transport) =>
      this.#serve(transport),
    );
    this.#listening.set(path, server);
  }

  /** Stops permanently. */
  close(): void {
    this.#paths.clear();
    this.crash();
  }

  /**
   * The configuration as plain data: sorted, interfaces named by their tags, without state that VPP
   * creates itself. Independent of the order of requests; undefined while VPP is not running.
   */
  snapshot(): Readonly<Record<string, unknown>> | undefined {
    if (!this.#process) return undefined;
    return Object.assign({}, ...this.#process.handlerGroups.map((part) => part.snapshot?.() ?? {}));
  }

  #serve(transport: Transport): void {
    const vppProcess = this.#process;
    if (!vppProcess) {
      transport.close();
      return;
    }
    const peer = serveClient(transport, this.#handlers(vppProcess), {
      log: this.#options.log,
      catalog: this.#catalog,
      clientIndex: ++this.#clients,
      onClose: (closed) => {
        this.#peers.delete(closed);
        vppProcess.forget(closed);
      },
    });
    this.#peers.set(peer, vppProcess);
  }

  /** Handlers for all messages of the catalog; messages without a handler are "not implemented". */
  #handlers(vppProcess: SimVppProcess): ServerHandlers {
    const known = new Map<string, AnyHandler>();
    for (const { requests, dumps } of vppProcess.handlerGroups)
      for (const [name, handler] of Object.entries({ ...requests, ...dumps }))
        known.set(name, handler as AnyHandler);
    const requests: Record<string, AnyHandler> = {};
    const dumps: Record<string, AnyHandler> = {};
    for (const [name, service] of this.#catalog.services) {
      const kind = service.kind === 'request' ? 'request' : 'dump';
      const handler = known.get(name) ?? this.#notImplemented(name, kind);
      const table = kind === 'request' ? requests : dumps;
      table[name] = (fields, peer) =>
        this.#handle(vppProcess, { name, kind, fields }, handler, peer);
    }
    return { requests, dumps } as ServerHandlers;
  }

  #notImplemented(name: string, kind: VppRequest['kind']): AnyHandler {
    return () => {
      this.#options.log.warn({ message: name }, 'message is not simulated');
      return kind === 'request' ? retval.UNIMPLEMENTED : [];
    };
  }

  #handle(
    vppProcess: SimVppProcess,
    request: VppRequest,
    handler: AnyHandler,
    peer: Peer,
  ): unknown {
    if (request.name === 'control_ping') return handler(request.fields, peer);
    if (this.#options.keepsRequests ?? true) appendRecord(this.requests, request);
    const fault = this.faults.next(request);
    if (!fault && !this.onRequest) return handler(request.fields, peer);
    return this.#handleWithFault(vppProcess, request, handler, peer, fault);
  }

  async #handleWithFault(
    vppProcess: SimVppProcess,
    request: VppRequest,
    handler: AnyHandler,
    peer: Peer,
    fault: VppFault | undefined,
  ): Promise<unknown> {
    const hit = (when: When): boolean => {
      if (!fault || 'refuse' in fault) return false;
      if ('crash' in fault && fault.crash === when) this.crash();
      else if ('disconnect' in fault && fault.disconnect === when) peer.close();
      else return 'hang' in fault && fault.hang === when;
      return true;
    };
    await this.onRequest?.('before', request);
    if (this.#process !== vppProcess || hit('before')) return neverSettles;
    if (fault && 'refuse' in fault) return request.kind === 'request' ? fault.refuse : [];
    const answer = await handler(request.fields, peer);
    await this.onRequest?.('after', request);
    if (this.#process !== vppProcess || hit('after')) return neverSettles;
    return answer;
  }
}
