/** The agent's process in a network namespace, with its configuration files. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LevelStore } from '#datastore/level-store.ts';
import { CniClient } from '#demonstration/cni-client.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { CNIReply } from '#models/cni/cni.gen.ts';
import { programCommand, programFile } from '#test/support/program-command.ts';
import { hasVhostNet, withVhostNetListed } from '#test/support/vhost-net.ts';
import { isListening, until } from '#test/support/wait.ts';
import { Background } from './background.ts';
import type { Netns } from './netns.ts';
import type { Sandbox } from './sandbox.ts';

const main = programFile('agent');

/** It needs 4 s of CPU; a process with a low priority got 3 s in 30 s on a busy machine. */
const READY_LIMIT_MS = 120_000;

/** How the agent connects pods and the host to VPP. */
export type Links = 'TAP' | 'VETH';

export interface AgentConfig {
  /** Name of the node. */
  readonly label: string;
  readonly vppSocket: string;
  readonly etcdEndpoint: string;
  /** Default: the product's, TAP, wherever a VPP of this machine can create TAPs. */
  readonly links?: Links | undefined;
  /** Additional keys of contiv.conf. */
  readonly contiv?: Readonly<Record<string, unknown>>;
  /** Keys of controller.conf. */
  readonly controller?: Readonly<Record<string, unknown>>;
  /** Keys of service.conf. */
  readonly service?: Readonly<Record<string, unknown>>;
  /** Keys of etcd.conf; default: the endpoint, without TLS. */
  readonly etcd?: Readonly<Record<string, unknown>>;
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Additional keys of http.conf. */
  readonly http?: Readonly<Record<string, unknown>>;
  /** Additional flags. */
  readonly flags?: readonly string[];
  /** The program, with the flags of its first line; default: the source, without flags. */
  readonly main?: string | undefined;
  /** Words before the command, which become it. */
  readonly wrapper?: readonly string[] | undefined;
}

interface RestResponse {
  readonly status: number;
  readonly body: unknown;
}

/** An event in GET /controller/event-history. */
export interface HistoryEvent {
  readonly SeqNum: number;
  readonly Name: string;
  readonly Description: string;
  readonly Handlers: readonly { readonly Handler: string; readonly ErrorStr: string }[];
  readonly TxnErrorStr: string;
}

export class RealAgent {
  readonly #netns: Netns;
  readonly #folder: string;
  readonly #contiv: Readonly<Record<string, unknown>>;
  #label: string;
  readonly #env: Readonly<Record<string, string | undefined>>;
  #command: readonly string[];
  readonly #flags: readonly string[];
  readonly #wrapper: readonly string[];
  readonly #hasTaps: boolean;
  #process: Background | undefined;

  constructor(netns: Netns, folder: string, config: AgentConfig) {
    this.#netns = netns;
    this.#folder = folder;
    this.#label = config.label;
    this.#env = { NODE_COMPILE_CACHE: compileCacheFolder(), ...config.env };
    this.#command = config.main === undefined ? programCommand(main) : [config.main];
    this.#flags = config.flags ?? [];
    this.#wrapper = config.wrapper ?? [];
    this.#hasTaps = config.links === undefined ? hasVhostNet() : config.links === 'TAP';
    this.#contiv = { useTAPInterfaces: this.#hasTaps, ...config.contiv };
    const files = {
      contiv: this.#contiv,
      controller: { ...config.controller },
      service: { ...config.service },
      http: { endpoint: '127.0.0.1:9999', 'local-socket': this.restSocket, ...config.http },
      grpc: { endpoint: this.cniSocket },
      etcd: config.etcd ?? { endpoints: [config.etcdEndpoint], 'insecure-transport': true },
      bolt: { 'db-path': this.storeFolder },
      govpp: { 'binapi-socket-path': config.vppSocket },
    };
    mkdirSync(folder, { recursive: true });
    // JSON is YAML
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(folder, `${name}.conf`), JSON.stringify(content));
  }

  /** Of the REST server, with all routes. */
  get restSocket(): string {
    return join(this.#folder, 'agent.sock');
  }

  get cniSocket(): string {
    return join(this.#folder, 'cni.sock');
  }

  get storeFolder(): string {
    return join(this.#folder, 'store');
  }

  /** The next start uses another name of the node. */
  rename(label: string): void {
    this.#label = label;
  }

  /** The next start uses other keys of contiv.conf. */
  configure(keys: Readonly<Record<string, unknown>>): void {
    const text = JSON.stringify({ ...this.#contiv, ...keys });
    writeFileSync(join(this.#folder, 'contiv.conf'), text);
  }

  /** The next start uses another program. @param file of JavaScript */
  replace(file: string): void {
    this.#command = programCommand(file);
  }

  /** The command without its arguments. */
  get command(): readonly string[] {
    const listed = this.#hasTaps ? withVhostNetListed() : [];
    return [...this.#wrapper, ...this.#netns.enter, ...listed, ...this.#command];
  }

  get flags(): readonly string[] {
    return [`--config-dir=${this.#folder}`, `--microservice-label=${this.#label}`, ...this.#flags];
  }

  /** Starts the process without waiting until it serves. */
  launch(): void {
    this.#process = new Background([...this.command, ...this.flags], {
      log: join(this.#folder, 'agent.log'),
      env: this.#env,
    });
  }

  /** Starts the process; resolves when pods can be added. */
  async start(): Promise<void> {
    this.launch();
    await this.whenServing();
  }

  /**
   * Resolves when pods can be added.
   * @param pauseMs between two questions, which cost the agent CPU time @throws with the end of its log
   */
  async whenServing(limitMs = READY_LIMIT_MS, pauseMs?: number): Promise<void> {
    const serves = async () => {
      this.#process!.assertRunning();
      if (!(await isListening(this.cniSocket))) return false;
      const { status } = await this.get('/readiness').catch(() => ({ status: 0 }));
      return status === 200;
    };
    try {
      await until('the agent is ready', serves, limitMs, pauseMs);
    } catch (cause) {
      const used = this.isRunning ? `, and used ${this.#process!.cpuSeconds} s of CPU` : '';
      throw new Error(`the agent is not ready${used}:\n${this.tail()}`, { cause });
    }
  }

  /** CPU time that it has used, in seconds. */
  get cpuSeconds(): number {
    return this.#process!.cpuSeconds;
  }

  /** Throws with the end of its output when it has exited. */
  assertRunning(): void {
    this.#process!.assertRunning();
  }

  get isRunning(): boolean {
    return this.#process?.isRunning ?? false;
  }

  suspend(): Promise<void> {
    return this.#process!.suspend();
  }

  resume(): void {
    this.#process!.resume();
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#process?.end(signal);
  }

  /** End of its log. */
  tail(): string {
    return this.#process?.tail() ?? '';
  }

  /** ADD, as contiv-cni sends it. @throws when the agent is unreachable */
  add(sandbox: Sandbox, path?: string): Promise<CNIReply> {
    return this.#cni((client) => client.add(sandbox.request(path)));
  }

  /** DEL, as contiv-cni sends it. @throws when the agent is unreachable */
  delete(sandbox: Sandbox, path?: string): Promise<CNIReply> {
    return this.#cni((client) => client.delete(sandbox.request(path)));
  }

  async #cni<T>(call: (client: CniClient) => Promise<T>): Promise<T> {
    const client = new CniClient(this.cniSocket);
    try {
      return await call(client);
    } finally {
      client.close();
    }
  }

  /** GET over the local socket. */
  get(path: string): Promise<RestResponse> {
    return this.#request('GET', path);
  }

  /** POST over the local socket. */
  post(path: string, body?: object): Promise<RestResponse> {
    return this.#request('POST', path, body);
  }

  #request(method: 'GET' | 'POST', path: string, body?: object): Promise<RestResponse> {
    return new Promise((resolve, reject) => {
      const headers = body && { 'content-type': 'application/json' };
      const call = { socketPath: this.restSocket, method, path, headers, timeout: 10_000 };
      const sent = request(call, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: parsed(text) }));
      });
      sent.on('timeout', () => sent.destroy(new Error(`no response to ${method} ${path}`)));
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
    });
  }

  /** Keys of the values in which VPP and Linux differ from the desired state, by the agent's own comparison. */
  async drift(): Promise<readonly string[]> {
    const { status, body } = await this.get('/scheduler/drift');
    const { Differences, Unread } = body as {
      readonly Differences: readonly { readonly Key: string; readonly Difference: string }[];
      readonly Unread: readonly unknown[];
    };
    assert.deepEqual({ status, Unread }, { status: 200, Unread: [] });
    return Differences.map(({ Key, Difference }) => `${Difference} ${Key}`);
  }

  async history(): Promise<readonly HistoryEvent[]> {
    return ((await this.get('/controller/event-history')).body as HistoryEvent[] | null) ?? [];
  }

  /** Values of its local store. The process must have exited. */
  async storedValues(prefix: string): Promise<ReadonlyMap<string, string>> {
    const store = await LevelStore.open({ folder: this.storeFolder, log: silentLogger });
    try {
      const { entries } = await store.list(prefix);
      return new Map(entries.map(({ key, value }) => [key, value]));
    } finally {
      await store.close();
    }
  }
}

let compileCache: string | undefined;

/** Compile cache that all agents of the test share; removed at the end. */
function compileCacheFolder(): string {
  if (compileCache === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'compiled-'));
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
    compileCache = folder;
  }
  return compileCache;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
