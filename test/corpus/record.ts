/**
 * An agent on simulated VPP and Linux, on virtual time and a seeded random source, whose every
 * effect is recorded: its requests to VPP and Linux, its writes to the stores, and its REST documents.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Agent, createAgent } from '#cmd/agent/agent.ts';
import { parseFlags } from '#cmd/agent/flags.ts';
import { readSettings } from '#cmd/agent/settings.ts';
import type { KvStore } from '#datastore/api.ts';
import { addressIn, CniClient } from '#demonstration/cni-client.ts';
import type { Timer } from '#infra/clock/clock.ts';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { Loggers } from '#infra/log/loggers.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { type AgentOptions, cniRequest, type Node, type TestPod } from '#test/cmd/agent/harness.ts';
import { NIC, section, tellOfNode } from '#test/cmd/agent/scenario.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { keysInMemory } from '#vpp/wireguard/key-file.ts';
import {
  documentLines,
  normalized,
  normalizedDocument,
  normalizedMetrics,
  requestLines,
  withoutRepetition,
  withoutVolatile,
} from './normalize.ts';
import type { Recording } from './recording.ts';

/** Turns of the event loop for what one instant of virtual time starts. */
const TURNS_PER_INSTANT = 30;

/** Turns of the event loop without any effect after which nothing is under way any more. */
const QUIET_TURNS = 60;

/** Later than any real time: gRPC measures deadlines, given in virtual time, with the real clock. */
const virtualStart = Date.UTC(2100, 0, 1);

const jsonLine = (value: unknown): string => JSON.stringify(normalized(value));

/** A machine on virtual time: what survives a restart of the agent. */
export interface Machine extends Node {
  readonly clock: ManualClock;
}

/**
 * Virtual time on which everything that a timer starts ends before the next instant, however often it
 * yields: the recorded instants do not depend on how work is cut into slices.
 */
class SettlingClock extends ManualClock {
  #due: number[] = [];

  override timer(ms: number, callback: () => void): Timer {
    this.#due.push(this.now() + Math.max(0, ms));
    return super.timer(ms, callback);
  }

  override async advance(ms: number): Promise<void> {
    const end = this.now() + ms;
    for (;;) {
      const now = this.now();
      const next = this.#due.reduce((least, due) => Math.min(least, due), Number.POSITIVE_INFINITY);
      if (next > end) break;
      this.#due = this.#due.filter((due) => due > next);
      await super.advance(Math.max(0, next - now));
      for (let turn = 0; turn < TURNS_PER_INSTANT; turn++) await this.turn();
    }
    await super.advance(end - this.now());
  }
}

/** @param nics without it the machine has no links of its own, as in the embedded mode */
export async function makeMachine({ nics = true } = {}): Promise<Machine> {
  const clock = new SettlingClock(virtualStart);
  const random = seededRandom(11);
  const linux = new SimLinux(random);
  const vpp = new SimVpp({ host: linux, clock, random, log: silentLogger });
  const [cluster, local, mirror] = [new MemoryStore(), new MemoryStore(), new MemoryStore()];
  const machine: Machine = { cluster, local, mirror, linux, vpp, clock };
  if (!nics) return machine;
  linux.addNic('eth0');
  await linux.addAddress(undefined, 'eth0', '172.16.0.5/24');
  linux.addNic(NIC);
  await tellOfNode(machine, 'node1', { address: '172.16.0.5' });
  return machine;
}

/** Reports every write to a store before it is made. */
function recordedStore(inner: KvStore, tell: (line: string) => void): KvStore {
  const calls: ReadonlySet<string | symbol> = new Set<keyof KvStore>([
    'put',
    'putAll',
    'putIfAbsent',
    'compareAndSwap',
    'compareAndDelete',
    'delete',
  ]);
  return new Proxy<KvStore>(inner, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) => {
        if (calls.has(name)) tell(`${String(name)} ${args.map(written).join(' ')}`);
        return method.apply(target, args);
      };
    },
  });
}

/** An argument of a write. */
function written(argument: unknown): string {
  if (!(argument instanceof Map)) return withoutVolatile(String(argument));
  const pairs = [...argument].map(([key, value]) => `\n  ${key} ${value ?? '(deleted)'}`);
  return withoutVolatile(pairs.join(''));
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

export class RecordedAgent {
  readonly machine: Machine;
  readonly #recording: Recording;
  readonly #name: string;
  readonly #agent: Agent;
  readonly #folder: string;
  readonly #socket: string;
  readonly #cniSocket: string;
  #client: CniClient | undefined;
  #effects = 0;
  #stepName = '';
  /** Parts that name the present step already. */
  readonly #marked = new Set<string>();
  #requestsSeen: number;
  #operationsSeen: number;

  /** @param name of this run of an agent, before the names of its parts */
  constructor(machine: Machine, recording: Recording, name: string, options: AgentOptions = {}) {
    const { clock } = machine;
    this.machine = machine;
    this.#recording = recording;
    this.#name = name;
    this.#requestsSeen = machine.vpp.requests.length;
    this.#operationsSeen = machine.linux.operations.length;
    this.#folder = mkdtempSync(join(tmpdir(), 'corpus-'));
    this.#socket = join(this.#folder, 'agent.sock');
    this.#cniSocket = join(this.#folder, 'cni.sock');
    const flags = ['--embedded', '--config-dir', this.#folder, '--microservice-label', 'node1'];
    const base = readSettings(parseFlags(flags, {}), options.env ?? {});
    const contiv = { ...base.contiv, nodeConfig: [section({})], ...options.contiv };
    const store = (which: 'cluster' | 'local' | 'mirror') =>
      recordedStore(machine[which], (line) => {
        this.#effects++;
        this.#effect(`writes to the ${which} store`, line);
      });
    this.#agent = createAgent({
      settings: {
        ...base,
        contiv: { ...contiv, ipamConfig: { ...base.contiv.ipamConfig, ...options.ipam } },
        controller: { ...base.controller, ...options.controller },
        // a heartbeat every 10 s would hide the other writes
        statusCheck: { 'publish-interval': 0 },
        http: { ...base.http, endpoint: '127.0.0.1:0', 'local-socket': this.#socket },
        grpc: { ...base.grpc, endpoint: this.#cniSocket },
      },
      environment: {
        cluster: store('cluster'),
        local: store('local'),
        mirror: store('mirror'),
        localDisk: undefined,
        mirrorDisk: undefined,
        linux: machine.linux,
        connectVpp: machine.vpp.connect(),
        vppStatistics: machine.vpp.statistics,
        vppNamespaces: machine.vpp.namespaces,
        addNamespace: (path) => machine.linux.addNamespace(path),
        prepareHost: async () => ({ ipv6: true }),
        keyFile: keysInMemory(),
        close: async () => undefined,
      },
      clock,
      random: seededRandom(5),
      loggers: new Loggers({ 'default-level': 'info', loggers: [] }, undefined, {
        write: (line) => this.#logged(line),
      }),
      build: { version: 'v0', date: '', commit: '' },
      print: () => undefined,
    });
  }

  get controller() {
    return this.#agent.controller;
  }

  /** Starts, and lets the startup resync end. */
  async start(): Promise<void> {
    await this.step('start', () => this.#agent.start());
    this.#client = new CniClient(this.#cniSocket);
  }

  async stop(): Promise<void> {
    await this.step('stop', async () => {
      this.#client?.close();
      // No time passes: how long sockets take to close may not show.
      await this.#agent.stop();
    });
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** In place of `start`. */
  async undeploy(): Promise<void> {
    await this.step('undeploy', async () => {
      const outcome = this.#agent.undeploy().then(
        () => 'done',
        (error: unknown) => `failed ${codeOf(error)}`,
      );
      this.#recording.add(this.#part('outcome'), await this.#drive(outcome));
    });
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #part(name: string): string {
    return `${this.#name}: ${name}`;
  }

  /** An effect of the present step. */
  #effect(part: string, line: string): void {
    const name = this.#part(part);
    const lines = this.#marked.has(part) ? [line] : [`-- ${this.#stepName}`, line];
    this.#marked.add(part);
    // The mirror repeats the content of the shared store.
    if (part.includes('mirror')) this.#recording.addLarge(name, ...lines);
    else this.#recording.add(name, ...lines);
  }

  /** Log records are counted by logger and level; their text is for people. */
  #logged(line: string): void {
    const { level, logger } = JSON.parse(line) as { level: string; logger: string };
    if (level !== 'info') this.#effect('logged', `${level} ${logger}`);
  }

  /** Does something, lets it end, and records its effects under its name. */
  async step<T>(name: string, action: () => Promise<T> | T, afterMs = 0): Promise<T> {
    this.#stepName = name;
    this.#marked.clear();
    const result = await action();
    await this.#settle();
    if (afterMs > 0) await this.pass(afterMs);
    this.#collect();
    return result;
  }

  /** Lets virtual time pass; what falls due in one piece of it ends before the next. */
  async pass(ms: number, pieceMs = 100): Promise<void> {
    const { clock } = this.machine;
    for (let left = ms; left > 0; left -= pieceMs) {
      await clock.advance(Math.min(left, pieceMs));
      await this.#settle();
    }
  }

  /** Lets time pass until it ends. */
  async #drive<T>(ending: Promise<T>): Promise<T> {
    let over = false;
    const end = () => {
      over = true;
    };
    ending.then(end, end);
    for (let piece = 0; !over && piece < 2000; piece++) {
      await this.#settle();
      if (!over) await this.machine.clock.advance(10);
    }
    return ending;
  }

  /** Waits until nothing is under way at this moment of virtual time. */
  async #settle(): Promise<void> {
    const { clock, vpp, linux } = this.machine;
    const marks = () => [
      vpp.requests.length,
      linux.operations.length,
      this.#effects,
      this.controller.eventCount,
      clock.pending,
    ];
    for (let quiet = 0, before = marks(); quiet < QUIET_TURNS; quiet++) {
      await clock.turn();
      const now = marks();
      const isBusy = !this.controller.isIdle;
      if (isBusy || now.some((mark, index) => mark !== before[index])) quiet = 0;
      before = now;
    }
  }

  #collect(): void {
    const { vpp, linux } = this.machine;
    for (const line of requestLines(vpp.requests.slice(this.#requestsSeen)))
      this.#effect('VPP', line);
    for (const { name, namespace, args } of linux.operations.slice(this.#operationsSeen))
      this.#effect('Linux', `${name} ${namespace ?? '-'} ${jsonLine(args)}`);
    this.#requestsSeen = vpp.requests.length;
    this.#operationsSeen = linux.operations.length;
  }

  // The CNI service.

  async addPod(pod: TestPod, more: object = {}): Promise<string> {
    return this.step(`add ${pod.name}`, async () => {
      const reply = await this.#client!.add({ ...cniRequest(pod), ...more });
      this.#recording.add(this.#part('CNI'), `add ${pod.name} ${jsonLine(reply)}`);
      return addressIn(reply) ?? '';
    });
  }

  async deletePod(pod: TestPod): Promise<void> {
    await this.step(`delete ${pod.name}`, async () => {
      const reply = await this.#client!.delete(cniRequest(pod));
      this.#recording.add(this.#part('CNI'), `delete ${pod.name} ${jsonLine(reply)}`);
    });
  }

  get cniSocket(): string {
    return this.#cniSocket;
  }

  // REST.

  ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const call = httpRequest({ socketPath: this.#socket, method, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => {
        const type = response.headers['content-type'] ?? '';
        resolve({ status: response.statusCode ?? 0, type, text });
      });
      response.on('error', reject);
    });
    call.on('error', reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  }

  async #parsed<T>(path: string): Promise<T> {
    return JSON.parse((await this.ask('GET', path)).text) as T;
  }

  /** Asks, and records the answer as a part of its own. */
  async document(
    path: string,
    { method = 'GET', body, large = false, title = '' }: DocumentOptions = {},
  ): Promise<void> {
    const { status, type, text } = await this.ask(method, path, body);
    const name = this.#part(title === '' ? `${method} ${path}` : `${method} ${path}, ${title}`);
    const lines = [`${status} ${type}`];
    if (type.startsWith('application/json'))
      lines.push(...documentLines(normalizedDocument(withoutCopies(JSON.parse(text)))));
    else if (path === '/metrics') lines.push(...normalizedMetrics(text));
    else if (path.includes('format=dot')) lines.push(...withoutVolatile(text).split('\n'));
    // Other text is written for people.
    if (body !== undefined) this.#recording.add(name, `body ${jsonLine(body)}`);
    if (large) this.#recording.addLarge(name, ...lines);
    else this.#recording.add(name, ...lines);
  }

  /** The histories and the state, as REST documents. */
  async histories(large = false): Promise<void> {
    for (const path of ['/scheduler/txn-history', '/controller/event-history'])
      await this.step(path, () => this.document(path, { large }));
    await this.step('/scheduler/status', () => this.document('/scheduler/status', { large }));
    for (const path of ['/contiv/v1/ipam', '/contiv/v1/ipam/allocations', '/readiness'])
      await this.step(path, () => this.document(path));
  }

  /** Every document that can be read. */
  async everything(): Promise<void> {
    const documents = [
      '/liveness',
      '/log/list',
      '/metrics',
      '/controller/verification',
      '/controller/event-history?seq-num=1',
      '/controller/event-history?seq-num=9999',
      '/controller/event-history?format=text',
      '/controller/event-history?first=none',
      '/scheduler/dump',
      '/scheduler/dump?descriptor=none',
      '/scheduler/dump?view=NB',
      '/scheduler/stats',
      '/scheduler/status?key=none',
      '/scheduler/status?descriptor=vpp-route',
      '/scheduler/txn-history?seq-num=0',
      '/scheduler/txn-history?format=text',
      '/scheduler/flag-stats?flag=value-state',
      '/scheduler/flag-stats?flag=descriptor&prefix=config/vpp/',
      '/scheduler/flag-stats?flag=last-update',
      '/scheduler/flag-stats?flag=none',
      '/none',
    ];
    const large = [
      '/scheduler/graph-snapshot',
      '/scheduler/graph?format=dot',
      '/scheduler/graph?format=dot&txn=0',
      '/scheduler/graph?format=raw',
      '/trace/node',
      '/trace/node?view=NB',
    ];
    await this.histories(true);
    for (const path of documents) await this.step(path, () => this.document(path));
    for (const path of large) await this.step(path, () => this.document(path, { large: true }));
    await this.#dumps();
    await this.#timelines();
  }

  async #dumps(): Promise<void> {
    const { Descriptors } = await this.#parsed<{ Descriptors: string[] }>('/scheduler/dump');
    for (const name of Descriptors)
      for (const view of ['view=SB', 'view=NB', 'view=cached', 'state=SB']) {
        const path = `/scheduler/dump?descriptor=${name}&${view}`;
        await this.step(path, () => this.document(path, { large: view !== 'view=SB' }));
      }
  }

  async #timelines(): Promise<void> {
    const statuses = await this.#parsed<{ value: { key: string } }[]>('/scheduler/status');
    for (const { value } of statuses) {
      const { text } = await this.ask(
        'GET',
        `/scheduler/key-timeline?key=${encodeURIComponent(value.key)}`,
      );
      this.#recording.addLarge(
        this.#part('timelines'),
        value.key,
        ...documentLines(normalized(JSON.parse(text))),
      );
    }
  }

  /** Content of VPP, Linux and the stores at the end. */
  async finalState(namespaces: readonly string[] = []): Promise<void> {
    const { machine } = this;
    const name = this.#part('final state');
    for (const [part, value] of Object.entries(machine.vpp.snapshot() ?? {}))
      this.#recording.add(`${name} of VPP, ${part}`, ...elementLines(value));
    for (const namespace of [undefined, ...namespaces]) {
      const state = await machine.linux.dump(namespace).catch((error: unknown) => codeOf(error));
      this.#recording.add(`${name} of Linux, ${namespace ?? 'host'}`, ...elementLines(state));
    }
    for (const store of ['cluster', 'local', 'mirror'] as const) {
      const { entries } = await machine[store].list('');
      const lines = entries.map(({ key, value }) => withoutVolatile(`${key} ${value}`));
      const part = `${name} of the ${store} store`;
      if (store === 'local') this.#recording.add(part, ...lines);
      else this.#recording.addLarge(part, ...lines);
    }
    this.#operationsSeen = machine.linux.operations.length;
  }
}

/** An object of VPP or Linux a line. */
function elementLines(state: unknown): string[] {
  if (typeof state !== 'object' || state === null) return [jsonLine(state)];
  if (Array.isArray(state)) return state.map(jsonLine);
  return Object.entries(state).map(([name, value]) => `${name} ${jsonLine(value)}`);
}

interface DocumentOptions {
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly body?: unknown;
  readonly large?: boolean;
  /** Tells several answers of one address apart. */
  readonly title?: string;
}

/** Records of events show the number of their transaction only, transactions no plan twice. */
function withoutCopies(document: unknown): unknown {
  if (Array.isArray(document)) return document.map(withoutCopies);
  if (typeof document !== 'object' || document === null) return document;
  if (!('Txn' in document)) return withoutRepetition(document);
  const { SeqNum = null } = (document.Txn ?? {}) as { SeqNum?: number };
  return { ...document, Txn: { SeqNum } };
}

/** The stable code of an error, if it has one. */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '(no code)';
}
