/** Traffic between network namespaces: pings, checked TCP transfers, numbered UDP streams. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { enter } from './netns.ts';

/** A network namespace that sends or receives packets: of a pod, of a host or outside. */
export interface NetworkNamespace {
  readonly path: string;
  run(...command: readonly string[]): Promise<string>;
}

/** A namespace and one of its addresses, without prefix length. */
export interface Endpoint extends NetworkNamespace {
  readonly address: string;
}

/** Sends three pings. @throws when a reply is missing */
export async function ping(from: NetworkNamespace, address: string): Promise<void> {
  await from.run('ping', '-n', '-c', '3', '-i', '0.1', '-W', '5', address);
}

/** Header of IP and of ICMP echo. */
const pingHeaders = { 4: 28, 6: 48 } as const;

/** Sends three pings of this size that must not be fragmented. @throws when a reply is missing */
export async function pingUnfragmented(
  from: NetworkNamespace,
  address: string,
  bytes: number,
): Promise<void> {
  const size = String(bytes - pingHeaders[address.includes(':') ? 6 : 4]);
  await from.run('ping', '-n', '-c', '3', '-i', '0.1', '-W', '5', '-M', 'do', '-s', size, address);
}

/** Whether one ping has a reply. */
export function isReachable(from: NetworkNamespace, address: string): Promise<boolean> {
  return from.run('ping', '-n', '-c', '1', '-W', '1', address).then(
    () => true,
    () => false,
  );
}

/** A script of the folder `traffic` that runs in a namespace; it ends with its input. */
class TrafficProcess {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #name: string;
  #errors = '';

  constructor(place: NetworkNamespace, script: string, args: readonly string[], niceness = 0) {
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

  /** Next line of its output, as JSON. */
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

/** Sends random bytes over TCP. @returns the digests of both sides */
export async function transfer(
  from: NetworkNamespace,
  to: Endpoint,
  megabytes: number,
): Promise<{ readonly sent: Digest; readonly received: Digest }> {
  const server = new TrafficProcess(to, 'tcp-receive.ts', ['5001']);
  try {
    await server.line();
    const client = new TrafficProcess(from, 'tcp-send.ts', [to.address, '5001', String(megabytes)]);
    try {
      return { sent: await client.line<Digest>(), received: await server.line<Digest>() };
    } finally {
      await client.kill();
    }
  } finally {
    await server.kill();
  }
}

const ECHO_PORT = 5003;
const ECHO_BYTES = 200_000;

/** A server that sends back what it receives over TCP. */
export class EchoServer implements AsyncDisposable {
  readonly #process: TrafficProcess;

  static async start(at: NetworkNamespace): Promise<EchoServer> {
    const server = new TrafficProcess(at, 'tcp-echo.ts', [String(ECHO_PORT)]);
    await server.line();
    return new EchoServer(server);
  }

  private constructor(server: TrafficProcess) {
    this.#process = server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.kill();
  }
}

/** Sends bytes to an echo server; cheap, without a process of Node.js. @throws if they do not return */
export async function echo(from: NetworkNamespace, address: string): Promise<void> {
  const script = `exec 3<>/dev/tcp/${address}/${ECHO_PORT}; (head -c ${ECHO_BYTES} /dev/zero >&3) & head -c ${ECHO_BYTES} <&3 | wc -c`;
  const returned = await from.run('timeout', '10', 'bash', '-c', script);
  if (Number(returned) !== ECHO_BYTES) throw new Error(`${address} sent ${returned} bytes back`);
}

export interface StreamResult {
  readonly sent: number;
  readonly seconds: number;
  readonly received: number;
  /** Numbers of the first lost packets. */
  readonly missing: readonly number[];
  readonly duplicates: number;
  /** Longest time between two packets that arrived. */
  readonly longestGapMs: number;
  /** Packets that the kernel dropped because the receiver did not read them in time. */
  readonly droppedAtSocket: number;
}

/** Numbered UDP packets, 1,000 per second, until stopped. */
export class Stream {
  readonly #receiver: TrafficProcess;
  readonly #sender: TrafficProcess;

  /** Resolves when the first packet has arrived. */
  static async start(from: NetworkNamespace, to: Endpoint): Promise<Stream> {
    // A receiver that is not scheduled for half a second would overflow its socket.
    const receiver = new TrafficProcess(to, 'udp-receive.ts', ['5002'], -15);
    await receiver.line();
    const sender = new TrafficProcess(from, 'udp-send.ts', [to.address, '5002', '1000'], -10);
    const stream = new Stream(receiver, sender);
    await receiver.line();
    return stream;
  }

  private constructor(receiver: TrafficProcess, sender: TrafficProcess) {
    this.#receiver = receiver;
    this.#sender = sender;
  }

  async stop(): Promise<StreamResult> {
    this.#sender.stop();
    const { sent, seconds } = await this.#sender.line<{ sent: number; seconds: number }>();
    await new Promise((resolve) => setTimeout(resolve, 500));
    this.#receiver.stop();
    const received = await this.#receiver.line<Omit<StreamResult, 'sent' | 'seconds'>>();
    // Packets after the last received one count as missing too.
    return { sent, seconds, ...received };
  }

  async kill(): Promise<void> {
    await this.#sender.kill();
    await this.#receiver.kill();
  }
}
