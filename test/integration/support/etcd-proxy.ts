/** An `etcd grpc-proxy` on loopback. */
import { spawn } from 'node:child_process';
import { endChild } from './end-child.ts';
import { resume, suspend } from './suspend.ts';

export interface EtcdProxyOptions {
  /** Of the members before which it is. */
  readonly serverPorts: readonly number[];
  readonly port: number;
  /** Its working folder. */
  readonly folder: string;
  /** Of TLS. */
  readonly flags?: readonly string[] | undefined;
}

export class EtcdProxy {
  readonly #options: EtcdProxyOptions;
  #process;

  constructor(options: EtcdProxyOptions) {
    this.#options = options;
    this.#process = this.#spawn();
  }

  get port(): number {
    return this.#options.port;
  }

  get pid(): number {
    return this.#process.pid!;
  }

  /** null: it runs. */
  get exitCode(): number | null {
    return this.#process.exitCode;
  }

  suspend(): Promise<void> {
    return suspend(this.pid);
  }

  resume(): void {
    resume(this.pid);
  }

  /** Ends the process with SIGKILL. */
  close(): Promise<void> {
    return endChild(this.#process);
  }

  /** After its end. */
  restart(): void {
    this.#process = this.#spawn();
  }

  #spawn() {
    const { serverPorts, port, folder, flags = [] } = this.#options;
    // which certificates of tests name
    const endpoints = serverPorts.map((one) => `localhost:${one}`).join(',');
    const args = ['grpc-proxy', 'start', `--endpoints=${endpoints}`];
    return spawn('etcd', [...args, `--listen-addr=127.0.0.1:${port}`, ...flags], {
      stdio: 'ignore',
      cwd: folder,
    });
  }
}
