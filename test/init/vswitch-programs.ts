/** A VPP and an agent for tests of contiv-init: programs that say what happens to them. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { ProcessManager } from '#infra/process-manager/process-manager.ts';
import { type AgentProgram, type Preparation, Vswitch } from '#init/vswitch.ts';

/** Listens on the socket like VPP, and ends at SIGTERM. */
const LISTENER = `
  const { createServer } = require('node:net');
  const { appendFileSync, rmSync } = require('node:fs');
  const [, , , folder] = process.argv;
  const note = (text) => appendFileSync(folder + '/events', text + '\\n');
  rmSync(folder + '/api.sock', { force: true });
  createServer((socket) => socket.destroy()).listen(folder + '/api.sock', () => note('vpp started'));
  process.on('SIGTERM', () => { note('vpp stopped'); process.exit(0); });
`;

export interface VswitchOptions {
  /** Shell script of VPP instead of one that listens; its variable `folder` is that of the test. */
  readonly vpp?: string;
  /** Shell script of the agent; undefined: one that waits for SIGTERM. */
  readonly agent?: string;
  readonly isVppOnly?: boolean;
  readonly staysAfterCrash?: boolean;
  readonly preparation?: Partial<Preparation>;
  /** Preparation of the first start of the agent. */
  readonly prepareAgent?: () => Promise<void>;
}

export class FakeVswitch {
  readonly folder = mkdtempSync(join(tmpdir(), 'vswitch-'));
  readonly apiSocket = join(this.folder, 'api.sock');
  /** The standard error of VPP, so far. */
  readonly written: string[] = [];
  readonly vppMessages = new Writable({
    write: (chunk, _encoding, done) => {
      this.written.push(`${chunk}`);
      done();
    },
  });
  readonly #stop = new AbortController();
  readonly #manager = new ProcessManager({
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
  });
  readonly vswitch: Vswitch;
  /** Its run, once it is started; rejections are for `ended`. */
  #run: Promise<void> | undefined;

  constructor(t: TestContext, options: VswitchOptions = {}) {
    t.after(async () => {
      this.stop();
      await this.#run?.catch(() => undefined);
      rmSync(this.folder, { recursive: true, force: true });
    });
    writeFileSync(join(this.folder, 'listener.cjs'), LISTENER);
    const waits =
      "trap 'note \"agent stopped\"; exit 0' TERM; note 'agent started'; while :; do sleep 0.02; done";
    const agent: AgentProgram = {
      command: this.#script('agent', options.agent ?? waits),
      args: [],
      prepare: async () => {
        this.#note('agent prepared');
        await options.prepareAgent?.();
      },
    };
    this.vswitch = new Vswitch({
      vppCommand: this.#script(
        'vpp',
        options.vpp ?? `exec "${process.execPath}" "$folder/listener.cjs" -- "$folder"`,
      ),
      agent: options.isVppOnly ? undefined : agent,
      preparation: {
        run: async () => {
          this.#note('prepared');
          return { configuration: join(this.folder, 'startup.conf'), apiSocket: this.apiSocket };
        },
        whenLost: () => new Promise(() => undefined),
        undo: async () => this.#note('undone'),
        ...options.preparation,
      },
      staysAfterCrash: options.staysAfterCrash ?? false,
      manager: this.#manager,
      vppMessages: this.vppMessages,
      clock: systemClock,
      log: silentLogger,
    });
  }

  start(): void {
    this.#run = this.vswitch.run(this.#stop.signal);
    this.#run.catch(() => undefined);
  }

  stop(): void {
    this.#stop.abort('SIGTERM');
  }

  /** @throws what `run` throws */
  async ended(): Promise<void> {
    await this.#run;
  }

  pid(name: 'vpp' | 'agent'): number | undefined {
    return this.#manager.byName(name)?.pid;
  }

  /** In their order, so far. */
  get events(): string[] {
    try {
      return readFileSync(join(this.folder, 'events'), 'utf8').trimEnd().split('\n');
    } catch {
      return [];
    }
  }

  #note(text: string): void {
    writeFileSync(join(this.folder, 'events'), `${text}\n`, { flag: 'a' });
  }

  #script(name: string, body: string): string {
    const file = join(this.folder, name);
    const head = `#!/bin/sh\nfolder='${this.folder}'\nnote() { echo "$*" >> "$folder/events"; }\n`;
    writeFileSync(file, `${head}${body}\n`);
    chmodSync(file, 0o755);
    return file;
  }
}
