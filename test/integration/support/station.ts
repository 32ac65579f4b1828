/** A process in a network namespace that serves and connects on command. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Answer, Protocol, Target } from '#test/services/service-cluster.ts';
import { enter } from './netns.ts';
import type { SysFs } from './sys-fs.ts';
import type { Command, FlowReport, ProbeReport, Replies } from './traffic/station/commands.ts';
import type { NetworkNamespace } from './traffic.ts';

const MAIN = join(import.meta.dirname, 'traffic/station/main.ts');

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

export class Station implements Disposable {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #number = 0;
  #errors = '';

  /** @param sysFs of its node; undefined: its sockets know no services */
  constructor(name: string, place: NetworkNamespace, sysFs?: SysFs) {
    this.name = name;
    const [program = '', ...args] = [...enter(place.path), process.execPath, MAIN];
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    sysFs?.add(this.#child.pid!);
    this.#child.stderr!.on('data', (chunk) => {
      this.#errors += chunk;
    });
    createInterface(this.#child.stdout!).on('line', (line) => this.#receive(line));
    this.#child.on('exit', () => {
      for (const { reject } of this.#waiting.values())
        reject(new Error(`station ${name} ended: ${this.#errors}`));
      this.#waiting.clear();
    });
  }

  /** Serves over TCP and UDP. @param any all addresses of one family @param udpAddresses those of UDP; default: all */
  async serve(
    port: number,
    any: '0.0.0.0' | '::',
    udpAddresses: readonly string[] = [any],
  ): Promise<void> {
    const serve = (protocol: Protocol, address: string) =>
      this.#send({ do: 'serve', protocol, port, name: this.name, address });
    await serve('TCP', any);
    for (const address of udpAddresses) await serve('UDP', address);
  }

  connect(target: Target, count: number): Promise<readonly Answer[]> {
    return this.#send({ do: 'connect', target, count });
  }

  open(target: Target, count: number): Promise<Replies['open']> {
    return this.#send({ do: 'open', target, count });
  }

  check(ids: readonly number[]): Promise<readonly number[]> {
    return this.#send({ do: 'check', ids });
  }

  async close(ids: readonly number[]): Promise<void> {
    await this.#send({ do: 'close', ids });
  }

  openFlow(target: Target): Promise<Replies['openFlow']> {
    return this.#send({ do: 'openFlow', target });
  }

  readFlow(id: number): Promise<FlowReport> {
    return this.#send({ do: 'readFlow', id });
  }

  probe(target: Target, seconds: number): Promise<ProbeReport> {
    return this.#send({ do: 'probe', target, seconds });
  }

  /** Sends datagrams until one is answered. @returns when, in milliseconds since 1970 */
  firstAnswer(target: Target): Promise<number> {
    return this.#send({ do: 'firstAnswer', target });
  }

  transfer(target: Target, megabytes: number): Promise<Answer> {
    return this.#send({ do: 'transfer', target, megabytes });
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL');
  }

  /** Resolves when its process has ended. */
  async end(): Promise<void> {
    this[Symbol.dispose]();
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) await once(this.#child, 'exit');
  }

  #send<C extends Command>(command: C): Promise<Replies[C['do']]> {
    const number = ++this.#number;
    const { promise, resolve, reject } = Promise.withResolvers<Replies[C['do']]>();
    this.#waiting.set(number, { resolve: resolve as Waiting['resolve'], reject });
    this.#child.stdin!.write(`${JSON.stringify({ number, command })}\n`);
    return promise;
  }

  #receive(line: string): void {
    const { number, value, error } = JSON.parse(line) as {
      readonly number: number;
      readonly value: never;
      readonly error?: string;
    };
    const waiting = this.#waiting.get(number)!;
    this.#waiting.delete(number);
    if (error === undefined) waiting.resolve(value);
    else waiting.reject(new Error(`${this.name}: ${error}`));
  }
}
