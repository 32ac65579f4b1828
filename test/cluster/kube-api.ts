/** The API server as its administrator, through `kubectl proxy`: faster than a kubectl for each request. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { json, text } from 'node:stream/consumers';
import { isListening, until } from '#test/support/wait.ts';
import { folderOf } from './folder.ts';
import { kubectlCommand } from './kubectl.ts';

interface Stored {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export class KubeApi {
  readonly #process: ChildProcess;
  readonly #socket: string;

  private constructor(process: ChildProcess, socket: string) {
    this.#process = process;
    this.#socket = socket;
  }

  static async connect(): Promise<KubeApi> {
    const socket = join(folderOf('run'), 'api.sock');
    rmSync(socket, { force: true });
    const [program, ...args] = kubectlCommand();
    const child = spawn(
      'setpriv',
      ['--pdeathsig', 'KILL', program!, ...args, 'proxy', `--unix-socket=${socket}`],
      { stdio: 'ignore' },
    );
    await until('kubectl proxy listens', () => isListening(socket));
    return new KubeApi(child, socket);
  }

  /** @throws Error with the status of the reply unless it is a success */
  async call(method: Method, path: string, body?: object): Promise<unknown> {
    return await json(await this.#send(method, path, body));
  }

  /**
   * Changes of objects of a list from now on, until the signal.
   * @param seen gets each object as it is after a change
   */
  async watch<T>(path: string, signal: AbortSignal, seen: (object: T) => void): Promise<void> {
    const list = (await this.call('GET', `${path}?limit=1`)) as Stored;
    const from = `watch=1&resourceVersion=${list.metadata.resourceVersion}`;
    const reply = await this.#send('GET', `${path}?${from}`);
    signal.addEventListener('abort', () => reply.destroy());
    const lines = createInterface({ input: reply });
    lines.on('line', (line) => seen((JSON.parse(line) as { object: T }).object));
    // The end of the stream by the signal is its usual one.
    reply.on('error', () => {});
  }

  async close(): Promise<void> {
    const exited = once(this.#process, 'exit');
    this.#process.kill();
    await exited;
    rmSync(this.#socket, { force: true });
  }

  async #send(method: Method, path: string, body?: object): Promise<IncomingMessage> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const sent = request({
      socketPath: this.#socket,
      method,
      path,
      headers: body === undefined ? {} : { 'content-type': type },
    });
    sent.end(body && JSON.stringify(body));
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    if (reply.statusCode! >= 300) throw new Error(`${method} ${path}: ${await text(reply)}`);
    return reply;
  }
}
