/** Traffic between two places: pings, a checked transfer over TCP, a stream that counts gaps. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { enter } from './netns.ts';

/** A network namespace that packets start from or end in: a pod's, a host's or one outside. */
export interface Place {
  readonly path: string;
  run(...command: readonly string[]): Promise<string>;
}

/** A place under one of its addresses, plain. */
export interface Endpoint extends Place {
  readonly address: string;
}

/** Pings until as many answers came as were asked for. @throws when one is missing */
export async function ping(from: Place, address: string): Promise<void> {
  await from.run('ping', '-n', '-c', '3', '-i', '0.1', '-W', '5', address);
}

/** Header of IP and of ICMP echo. */
const pingHeaders = { 4: 28, 6: 48 } as const;

/** Pings with packets of this size that nobody on the way may cut up. @throws as `ping` */
export async function pingWhole(from: Place, address: string, bytes: number): Promise<void> {
  const size = String(bytes - pingHeaders[address.includes(':') ? 6 : 4]);
  await from.run('ping', '-n', '-c', '3', '-i', '0.1', '-W', '5', '-M', 'do', '-s', size, address);
}

/** Whether one ping is answered. */
export function pings(from: Place, address: string): Promise<boolean> {
  return from.run('ping', '-n', '-c', '1', '-W', '1', address).then(
    () => true,
    () => false,
  );
}

/** A script of the folder `traffic` that runs in a pod: it ends when its input does. */
class Peer {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #name: string;
  #errors = '';

  constructor(place: Place, script: string, args: readonly string[], niceness = 0) {
    this.#name = script;
    const file = join(import.meta.dirname, 'traffic', script);
    const command = [...enter(place.path), process.execPath, file, ...args];
    this.#child = spawn('nice', ['-n', String(niceness), ...command], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.stderr!.on('data', (chunk) => {
      this.#errors += chunk;
    });
    this.#lines = createInterface(this.#child.stdout!)[Symbol.asyncIterator]();
  }

  /** Next line that it prints, as JSON. */
  async line<T>(): Promise<T> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`${this.#name} ended: ${this.#errors}`);
    return JSON.parse(value) as T;
  }

  stop(): void {
    this.#child.stdin!.end();
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }
}

interface Digest {
  readonly bytes: number;
  readonly sha256: string;
}

/** Sends random bytes over TCP. @returns what each side says it has sent or received */
export async function transfer(
  from: Place,
  to: Endpoint,
  megabytes: number,
): Promise<{ readonly sent: Digest; readonly received: Digest }> {
  const server = new Peer(to, 'tcp-receive.ts', ['5001']);
  try {
    await server.line();
    const client = new Peer(from, 'tcp-send.ts', [to.address, '5001', String(megabytes)]);
    try {
      return { sent: await client.line<Digest>(), received: await server.line<Digest>() };
    } finally {
      await client.kill();
    }
  } finally {
    await server.kill();
  }
}

export interface StreamResult {
  readonly sent: number;
  readonly seconds: number;
  readonly received: number;
  /** Numbers of the first packets that never came. */
  readonly missing: readonly number[];
  readonly duplicates: number;
  /** What the kernel threw away because the receiver did not read it in time. */
  readonly droppedAtSocket: number;
}

/** Numbered UDP packets, 1,000 a second, from one pod to the other until it is stopped. */
export class Stream {
  readonly #receiver: Peer;
  readonly #sender: Peer;

  /** Resolves when packets arrive. */
  static async start(from: Place, to: Endpoint): Promise<Stream> {
    // whoever is not scheduled for half a second would lose what his socket cannot hold
    const receiver = new Peer(to, 'udp-receive.ts', ['5002'], -15);
    await receiver.line();
    const sender = new Peer(from, 'udp-send.ts', [to.address, '5002', '1000'], -10);
    const stream = new Stream(receiver, sender);
    await receiver.line();
    return stream;
  }

  private constructor(receiver: Peer, sender: Peer) {
    this.#receiver = receiver;
    this.#sender = sender;
  }

  async stop(): Promise<StreamResult> {
    this.#sender.stop();
    const { sent, seconds } = await this.#sender.line<{ sent: number; seconds: number }>();
    await new Promise((resolve) => setTimeout(resolve, 500));
    this.#receiver.stop();
    const received = await this.#receiver.line<Omit<StreamResult, 'sent' | 'seconds'>>();
    // packets after the last that arrived are missing as well
    return { sent, seconds, ...received };
  }

  async kill(): Promise<void> {
    await this.#sender.kill();
    await this.#receiver.kill();
  }
}
