/** netctl as its users start it: by name, from a shell or not. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';

const main = resolve(import.meta.dirname, '../../../src/cmd/netctl/main.ts');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class NetctlProgram implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'netctl-program-'));
  readonly #env: Readonly<Record<string, string>>;

  /** @param env all variables but PATH, HOME and TERM */
  constructor(env: Readonly<Record<string, string>> = {}) {
    for (const name of ['netctl', 'contiv-netctl']) symlinkSync(main, join(this.#folder, name));
    const path = [this.#folder, dirname(process.execPath), process.env['PATH']].join(delimiter);
    this.#env = { PATH: path, HOME: this.#folder, TERM: 'xterm', TZ: 'UTC', ...env };
  }

  /** Folder with its names, for a PATH. */
  get folder(): string {
    return this.#folder;
  }

  /** For the signals of a test. */
  spawn(...args: string[]): ChildProcess {
    return spawn('netctl', args, { env: this.#env, stdio: 'ignore' });
  }

  /** For lines of output that come while it runs. */
  follow(...args: string[]): ChildProcessByStdio<null, Readable, null> {
    return spawn('netctl', args, { env: this.#env, stdio: ['ignore', 'pipe', 'ignore'] });
  }

  run(...args: string[]): Promise<Ended> {
    return this.start('netctl', args);
  }

  /** Any program, which finds netctl in its PATH. */
  async start(program: string, args: readonly string[]): Promise<Ended> {
    const child = spawn(program, args, { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((ended, failed) => child.on('close', ended).on('error', failed)),
    ]);
    return { code, stdout, stderr };
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }
}

async function text(stream: NodeJS.ReadableStream): Promise<string> {
  let all = '';
  for await (const piece of stream.setEncoding('utf8')) all += piece;
  return all;
}
