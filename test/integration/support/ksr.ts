/** The process of contiv-ksr, with its configuration files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KsrConfig } from '#ksr/config.ts';
import { programCommand, programFile } from '#test/support/program-command.ts';
import { until } from '#test/support/wait.ts';
import { Background } from './background.ts';
import { freePort } from './free-port.ts';

const main = programFile('ksr');

/** It needs 2 s of CPU, on a machine that may be busy. */
const READY_LIMIT_MS = 120_000;

export interface KsrOptions {
  /** Clients' port of etcd, `<address>:<port>`. */
  readonly etcd: string;
  readonly kubeconfig: string;
  /** Keys of `ksr.conf`. */
  readonly config?: Partial<KsrConfig>;
  /** Words before the command, for example to enter a network namespace. */
  readonly enter?: readonly string[];
}

export class RealKsr implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'ksr-'));
  readonly #options: KsrOptions;
  readonly #port: number;
  #process: Background | undefined;

  /** Starts the process without waiting until it is ready. */
  static async launch(options: KsrOptions): Promise<RealKsr> {
    const ksr = await RealKsr.create(options);
    ksr.run();
    return ksr;
  }

  /** Not started yet. */
  static async create(options: KsrOptions): Promise<RealKsr> {
    return new RealKsr(options, await freePort());
  }

  private constructor(options: KsrOptions, port: number) {
    this.#options = options;
    this.#port = port;
    const files = {
      ...(options.config && { ksr: options.config }),
      etcd: { endpoints: [options.etcd], 'insecure-transport': true },
      http: { endpoint: `127.0.0.1:${port}`, 'local-socket': join(this.#folder, 'ksr.sock') },
    };
    // JSON is YAML
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(this.#folder, `${name}.conf`), JSON.stringify(content));
  }

  /** Starts the process without waiting until it is ready; also after its end. */
  run(): void {
    const { enter = [], kubeconfig } = this.#options;
    this.#process = new Background(
      [
        ...enter,
        ...programCommand(main),
        `--config-dir=${this.#folder}`,
        `--kube-config=${kubeconfig}`,
      ],
      { log: join(this.#folder, 'ksr.log') },
    );
  }

  /** Body of a GET; undefined when it is not answered with success. */
  async get(path: string): Promise<string | undefined> {
    try {
      const answer = await fetch(`http://127.0.0.1:${this.#port}${path}`, {
        signal: AbortSignal.timeout(5000),
      });
      const body = await answer.text();
      return answer.ok ? body : undefined;
    } catch {
      return undefined;
    }
  }

  /** Resolves when it is ready. @throws with the end of its log */
  async whenReady(): Promise<void> {
    const isReady = async () => {
      this.#process!.assertRunning();
      return (await this.get('/readiness')) !== undefined;
    };
    try {
      await until('contiv-ksr is ready', isReady, READY_LIMIT_MS);
    } catch (cause) {
      throw new Error(`contiv-ksr is not ready:\n${this.tail()}`, { cause });
    }
  }

  /** Resolves when it writes the records. */
  async whenLeading(): Promise<void> {
    const leads = () => {
      this.#process!.assertRunning();
      return this.leads();
    };
    await until('contiv-ksr leads', leads, READY_LIMIT_MS);
  }

  async leads(): Promise<boolean> {
    return /^contiv_ksr_leader 1$/m.test((await this.get('/metrics')) ?? '');
  }

  get pid(): number {
    return this.#process!.pid;
  }

  get cpuSeconds(): number {
    return this.#process!.cpuSeconds;
  }

  assertRunning(): void {
    this.#process!.assertRunning();
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
