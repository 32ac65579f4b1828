/** Packets of an interface, as tcpdump sees them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { enter, runIn } from './netns.ts';

export interface CapturedPacket {
  /** `<address>.<port>`, without a port where there is none. */
  readonly from: string;
  readonly to: string;
  readonly isUdp: boolean;
  /** The first segment of a connection. */
  readonly isSyn: boolean;
  /** Of the payload. */
  readonly length: number;
}

const HEADERS = '128';

export class Capture {
  readonly #folder = mkdtempSync(join(tmpdir(), 'capture-'));
  readonly #namespace: string;
  readonly #child: ChildProcess;

  /** Of a link in a network namespace, from now on. */
  static async start(namespace: string, link = 'eth0'): Promise<Capture> {
    const capture = new Capture(namespace, link);
    // it says that it listens
    await once(capture.#child.stderr!, 'data');
    return capture;
  }

  private constructor(namespace: string, link: string) {
    this.#namespace = namespace;
    const options = [
      '-i',
      link,
      '-w',
      this.#file,
      '-U',
      '-s',
      HEADERS,
      '-B',
      '32768',
      '-Z',
      'root',
    ];
    const [program = '', ...args] = [...enter(namespace), 'tcpdump', ...options];
    this.#child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  }

  get #file(): string {
    return join(this.#folder, 'packets');
  }

  /** Ends it at the first call. @param filter of tcpdump */
  async packets(filter = 'tcp or udp'): Promise<readonly CapturedPacket[]> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGTERM');
      await once(this.#child, 'close');
    }
    const text = await runIn(this.#namespace, 'tcpdump', '-nn', '-t', '-r', this.#file, filter);
    return text.split('\n').flatMap((line) => {
      const [, from, to, rest = ''] = /^IP6? (\S+) > (\S+): (.*)$/.exec(line) ?? [];
      if (from === undefined || to === undefined) return [];
      return [
        {
          from,
          to,
          isUdp: rest.startsWith('UDP'),
          isSyn: rest.startsWith('Flags [S],'),
          length: Number(/length (\d+)/.exec(rest)?.[1] ?? 0),
        },
      ];
    });
  }

  remove(): void {
    this.#child.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true });
  }
}
