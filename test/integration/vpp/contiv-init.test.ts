/** contiv-init with the real VPP and the real agent, in both modes. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { readStat } from '#infra/process-manager/proc-file.ts';
import { RealAgent } from '#test/integration/support/agent.ts';
import { Background } from '#test/integration/support/background.ts';
import { RealEtcd } from '#test/integration/support/etcd.ts';
import { Netns } from '#test/integration/support/netns.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { isListening, until } from '#test/support/wait.ts';

const programs = resolve(import.meta.dirname, '../../../src/cmd');

/** A node whose VPP and agent are started by contiv-init. */
class RealVswitch {
  readonly agent: RealAgent;
  readonly apiSocket: string;
  readonly #netns: Netns;
  readonly #etcd: RealEtcd;
  readonly #folder: string;
  readonly #vppFolder: string;
  readonly #startup: string;
  #init: Background | undefined;
  #starts = 0;

  static async create(): Promise<RealVswitch> {
    const created = new RealVswitch(await Netns.create('init'));
    await created.#etcd.start();
    return created;
  }

  private constructor(netns: Netns) {
    this.#netns = netns;
    this.#folder = mkdtempSync(join(tmpdir(), 'init-'));
    this.#vppFolder = join(this.#folder, 'vpp');
    mkdirSync(this.#vppFolder);
    this.apiSocket = join(this.#vppFolder, 'api.sock');
    this.#etcd = new RealEtcd(netns, join(this.#folder, 'etcd'));
    this.agent = new RealAgent(netns, join(this.#folder, 'agent'), {
      label: 'node1',
      vppSocket: this.apiSocket,
      etcdEndpoint: this.#etcd.endpoint,
      links: 'VETH',
    });
    this.#startup = join(this.#folder, 'startup.conf');
    const folder = this.#vppFolder;
    writeFileSync(
      this.#startup,
      `unix { nodaemon nosyslog runtime-dir ${folder} cli-listen ${folder}/cli.sock poll-sleep-usec 100 }
api-segment { prefix ${basename(this.#folder)} }
statseg { socket-name ${folder}/stats.sock }
memory { main-heap-size 512M main-heap-page-size 4k }
buffers { buffers-per-numa 16384 page-size 4k }
plugins { plugin dpdk_plugin.so { disable } }
`,
    );
  }

  /** @param flags override those of a start that succeeds */
  start(...flags: string[]): Background {
    const command = [
      ...this.#netns.enter,
      process.execPath,
      join(programs, 'init/main.ts'),
      '--vpp-bin=vpp',
      `--agent-bin=${join(programs, 'agent/main.ts')}`,
      `--vpp-config=${this.#startup}`,
      `--config-dir=${join(this.#folder, 'agent')}`,
      '--microservice-label=node1',
      ...flags,
    ];
    this.#init = new Background(command, {
      log: join(this.#folder, `init-${++this.#starts}.log`),
    });
    return this.#init;
  }

  async whenReady(): Promise<void> {
    const isReady = async () => {
      this.#init!.assertRunning();
      return (await this.agent.get('/readiness').catch(() => undefined))?.status === 200;
    };
    await until('the agent is ready', isReady, 100_000).catch((cause) => {
      throw new Error(this.tail(), { cause });
    });
  }

  /** Starts it; resolves when VPP answers and the agent, if it has one, is started. */
  async running(...flags: string[]): Promise<ReturnType<RealVswitch['programs']>> {
    this.start(...flags);
    const isRunning = async () => {
      this.#init!.assertRunning();
      const { vpp, agent } = this.programs();
      const isComplete = vpp !== undefined && (agent !== undefined || flags.includes('--vpp-only'));
      return isComplete && (await isListening(this.apiSocket));
    };
    await until('the programs run', isRunning, 100_000);
    return this.programs();
  }

  /** IDs of the programs that contiv-init has started. */
  programs(): { readonly vpp: number | undefined; readonly agent: number | undefined } {
    const { pid } = this.#init!;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    const running = children.filter((id) => existsSync(`/proc/${id}/cmdline`) && id !== '');
    const find = (text: string) =>
      running.find((id) => readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(text));
    const [vpp, agent] = [find(this.#startup), find('agent/main.ts')];
    return { vpp: vpp ? Number(vpp) : undefined, agent: agent ? Number(agent) : undefined };
  }

  runs(pid: number | undefined): boolean {
    const state = pid === undefined ? undefined : readStat(pid)?.state;
    return state !== undefined && state !== 'zombie';
  }

  /** @returns the exit code */
  async whenEnded(): Promise<number> {
    await until('contiv-init has ended', () => !this.#init!.isRunning, 60_000);
    return this.#init!.exitCode ?? -1;
  }

  async end(signal: 'SIGTERM'): Promise<number> {
    await this.#init!.end(signal);
    return await this.whenEnded();
  }

  async kill(): Promise<void> {
    await this.#init?.end('SIGKILL');
  }

  tail(): string {
    return this.#init?.tail() ?? '';
  }

  /** A startup configuration with a change. @returns its path */
  file(name: string, change: (text: string) => string): string {
    const path = join(this.#folder, name);
    writeFileSync(path, change(readFileSync(this.#startup, 'utf8')));
    return path;
  }

  async remove(): Promise<void> {
    await this.kill();
    await this.agent.end('SIGKILL');
    await this.#etcd.kill();
    await this.#etcd.close();
    await this.#netns.remove();
    for (const segment of ['global_vm', 'vpe-api'])
      rmSync(`/dev/shm/${basename(this.#folder)}-${segment}`, { force: true });
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

describe('contiv-init on a node', { skip: withoutNodes(), timeout: 600_000 }, () => {
  let vswitch: RealVswitch;
  before(async () => {
    vswitch = await RealVswitch.create();
  });
  afterEach(() => vswitch.kill());
  after(() => vswitch?.remove());

  it('starts VPP and the agent, restarts the agent alone, and stops both', async () => {
    vswitch.start();
    await vswitch.whenReady();
    const { vpp, agent } = vswitch.programs();
    process.kill(agent!, 'SIGKILL');
    await until('another agent runs', () => {
      const now = vswitch.programs().agent;
      return now !== undefined && now !== agent;
    });
    const restarted = vswitch.programs();
    assert.equal(restarted.vpp, vpp);
    await vswitch.whenReady();
    assert.equal(await vswitch.end('SIGTERM'), 0);
    assert.ok(!vswitch.runs(vpp) && !vswitch.runs(restarted.agent));
  });

  it('ends when VPP is killed, and starts again after its own SIGKILL', async () => {
    const first = await vswitch.running();
    process.kill(first.vpp!, 'SIGKILL');
    assert.equal(await vswitch.whenEnded(), 1);
    assert.match(vswitch.tail(), /VPP ended: SIGKILL\nCV_INIT_VPP_ENDED/);
    assert.ok(!vswitch.runs(first.agent));

    const second = await vswitch.running();
    await vswitch.kill();
    // The stale sockets are still there.
    await vswitch.running();
    assert.ok(!vswitch.runs(second.vpp) && !vswitch.runs(second.agent));
  });

  it('starts VPP alone, whose end is not that of an agent beside it', async () => {
    const { vpp, agent } = await vswitch.running('--vpp-only');
    assert.equal(agent, undefined);
    vswitch.agent.launch();
    await vswitch.agent.whenServing();
    process.kill(vpp!, 'SIGKILL');
    assert.equal(await vswitch.whenEnded(), 1);
    await vswitch.running('--vpp-only');
    assert.ok(vswitch.agent.isRunning);
    await vswitch.agent.end('SIGTERM');
  });

  it('ends both at SIGTERM in each phase of the start', async () => {
    const phases = {
      'VPP starts': () => vswitch.programs().vpp !== undefined,
      'VPP accepts connections': () => isListening(vswitch.apiSocket),
      'the agent starts': () => vswitch.programs().agent !== undefined,
      'the agent serves': () => isListening(vswitch.agent.restSocket),
    };
    for (const [phase, isReached] of Object.entries(phases)) {
      vswitch.start();
      await until(phase, isReached, 100_000);
      const { vpp, agent } = vswitch.programs();
      assert.equal(await vswitch.end('SIGTERM'), 0, `${phase}: ${vswitch.tail()}`);
      assert.ok(!vswitch.runs(vpp) && !vswitch.runs(agent), phase);
    }
  });

  it('waits for the end of another one, and does not disturb its VPP', async () => {
    const first = vswitch.start('--vpp-only');
    const second = vswitch.start('--vpp-only');
    const waits = (one: Background) => one.tail().includes('waiting for the end of another');
    await until('one waits', () => waits(first) || waits(second), 60_000);
    const [running, waiting] = waits(first) ? [second, first] : [first, second];
    await until('VPP accepts connections', () => isListening(vswitch.apiSocket), 60_000);
    assert.ok(running.isRunning && waiting.isRunning);
    await running.end('SIGTERM');
    assert.equal(running.exitCode, 0);
    await until('VPP accepts connections again', () => isListening(vswitch.apiSocket), 60_000);
    await waiting.end('SIGTERM');
    assert.equal(waiting.exitCode, 0, waiting.tail());
  });

  it('reports errors that a restart does not change', async () => {
    const ends = async (code: number, text: RegExp, ...flags: string[]) => {
      vswitch.start(...flags);
      assert.equal(await vswitch.whenEnded(), code, vswitch.tail());
      assert.match(vswitch.tail(), text);
    };
    await ends(1, /CV_PROCESS_START/, '--vpp-bin=/usr/bin/no-vpp');
    await ends(1, /CV_PROCESS_START/, '--agent-bin=/usr/bin/no-agent');
    await ends(2, /CV_CONFIG_INVALID/, '--config-dir=/none');
    const rejected = vswitch.file('rejected.conf', (text) => `${text}bogus { x }\n`);
    await ends(1, /unknown input `bogus[\s\S]*CV_INIT_VPP_ENDED/, `--vpp-config=${rejected}`);
    const detached = vswitch.file('detached.conf', (text) =>
      text.replace('nodaemon nosyslog', 'cli-prompt x'),
    );
    await ends(2, /CV_INIT_STARTUP_CONFIG/, `--vpp-config=${detached}`);
  });
});
