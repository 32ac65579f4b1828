import { rmSync } from 'node:fs';
import type { Server } from 'node:net';
import type { Clock, Random } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
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
import { type SimVppProcess, startProcess } from './vpp-process.ts';

/** A message of a client, as it arrived. */
export interface VppRequest {
  readonly name: string;
  /** A dump changes nothing and has no retval. */
  readonly kind: 'request' | 'dump';
  readonly fields: object;
}

/** `before`: it was not carried out. `after`: it was, and the client will not hear of it. */
type When = 'before' | 'after';

export type VppFault =
  /** Answered with this retval, not carried out. */
  | { readonly refuse: number }
  /** Neither this nor a later message of the client is ever answered. */
  | { readonly hang: When }
  /** The connection ends. */
  | { readonly disconnect: When }
  /** VPP ends. */
  | { readonly crash: When };

export interface SimVppOptions {
  /** The machine that it runs on; without one, TAPs have no other end and there are no host links. */
  readonly host?: SimLinux;
  /** Names of the NICs that VPP drives itself. */
  readonly nics?: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Messages of the release that it pretends to be; default: those that are bundled. */
  readonly catalog?: Catalog;
}

type AnyHandler = (fields: object, peer: Peer) => unknown;
const neverSettles = new Promise<never>(() => undefined);

/**
 * A simulated VPP that serves the binary API and answers as VPP 26.06 does, refusals and oddities
 * included. It runs from the start; `crash` ends a life and `start` begins the next one.
 */
export class SimVpp {
  readonly #options: SimVppOptions;
  readonly #catalog: Catalog;
  readonly #peers = new Map<Peer, SimVppProcess>();
  readonly #listening = new Map<string, Server>();
  readonly #paths = new Set<string>();
  #process: SimVppProcess | undefined;
  #clients = 0;

  /** What clients of DHCP get. */
  readonly dhcpServer = new SimDhcpServer();
  /** What VPP finds as it starts. */
  readonly nics: SimNics;
  /** The latest that arrived, in order, without control_ping; also what was refused. */
  readonly requests: VppRequest[] = [];
  /** Counts requests and dumps that match; control_ping only where a match asks for it. */
  readonly faults = new FaultPlan<VppRequest, VppFault>();
  /**
   * Called around each message but control_ping, to end a test's agent or VPP just there. Where it
   * ends VPP before, the message is not carried out.
   */
  onRequest: ((when: When, request: VppRequest) => void | Promise<void>) | undefined;

  constructor(options: SimVppOptions) {
    this.#options = options;
    this.#catalog = options.catalog ?? bundledCatalog();
    this.nics = new SimNics(options.nics ?? []);
    void this.start();
  }

  get isRunning(): boolean {
    return this.#process !== undefined;
  }

  /** Begins a new, empty life; sockets that were listened on are there again. */
  async start(): Promise<void> {
    if (this.#process) return;
    const { host, clock, random, log } = this.#options;
    const crash = (why: string) => {
      log.error({ why }, 'the simulated VPP ends, as VPP would');
      this.crash();
    };
    this.#process = startProcess({
      host,
      clock,
      random,
      dhcpServer: this.dhcpServer,
      nics: this.nics,
      crash,
    });
    for (const path of this.#paths) await this.listen(path);
  }

  /** Ends all connections and loses everything; TAPs vanish from the host, other links stay. */
  crash(): void {
    const life = this.#process;
    if (!life) return;
    this.#process = undefined;
    for (const server of this.#listening.values()) server.close();
    this.#listening.clear();
    for (const peer of [...this.#peers.keys()]) peer.close();
    this.#peers.clear();
    life.end();
  }

  /** For clients in this process. Connecting fails while VPP is down. */
  connect(): Connect {
    const open = memoryConnect((transport) => this.#serve(transport));
    return async () => {
      if (!this.#process) throw new VppDisconnectedError('the simulated VPP is down');
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

  /** Ends for good. */
  close(): void {
    this.#paths.clear();
    this.crash();
  }

  /**
   * The configuration as plain data: sorted, interfaces by their tags, without what VPP makes by
   * itself. Equal for equal configuration, however it came about; undefined while VPP is down.
   */
  snapshot(): Readonly<Record<string, unknown>> | undefined {
    if (!this.#process) return undefined;
    return Object.assign({}, ...this.#process.handlerGroups.map((part) => part.snapshot?.() ?? {}));
  }

  #serve(transport: Transport): void {
    const life = this.#process;
    if (!life) {
      transport.close();
      return;
    }
    const peer = serveClient(transport, this.#handlers(life), {
      log: this.#options.log,
      catalog: this.#catalog,
      clientIndex: ++this.#clients,
      onClose: (gone) => {
        this.#peers.delete(gone);
        life.forget(gone);
      },
    });
    this.#peers.set(peer, life);
  }

  /** All messages that there are: those that no part knows are answered as not implemented. */
  #handlers(life: SimVppProcess): ServerHandlers {
    const known = new Map<string, AnyHandler>();
    for (const { requests, dumps } of life.handlerGroups)
      for (const [name, handler] of Object.entries({ ...requests, ...dumps }))
        known.set(name, handler as AnyHandler);
    const requests: Record<string, AnyHandler> = {};
    const dumps: Record<string, AnyHandler> = {};
    for (const [name, service] of this.#catalog.services) {
      const kind = service.kind === 'request' ? 'request' : 'dump';
      const handler = known.get(name) ?? this.#notImplemented(name, kind);
      const table = kind === 'request' ? requests : dumps;
      table[name] = (fields, peer) => this.#handle(life, { name, kind, fields }, handler, peer);
    }
    return { requests, dumps } as ServerHandlers;
  }

  #notImplemented(name: string, kind: VppRequest['kind']): AnyHandler {
    return () => {
      this.#options.log.warn({ message: name }, 'not simulated');
      return kind === 'request' ? retval.UNIMPLEMENTED : [];
    };
  }

  #handle(life: SimVppProcess, request: VppRequest, handler: AnyHandler, peer: Peer): unknown {
    if (request.name === 'control_ping') return handler(request.fields, peer);
    appendRecord(this.requests, request);
    const fault = this.faults.next(request);
    if (!fault && !this.onRequest) return handler(request.fields, peer);
    return this.#handleWithFault(life, request, handler, peer, fault);
  }

  async #handleWithFault(
    life: SimVppProcess,
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
    if (this.#process !== life || hit('before')) return neverSettles;
    if (fault && 'refuse' in fault) return request.kind === 'request' ? fault.refuse : [];
    const answer = await handler(request.fields, peer);
    await this.onRequest?.('after', request);
    if (this.#process !== life || hit('after')) return neverSettles;
    return answer;
  }
}
