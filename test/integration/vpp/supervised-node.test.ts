/** etcd, VPP and the agent as processes of the process manager, killed in turn. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { ManagedProcess } from '#infra/process-manager/managed-process.ts';
import { ProcessManager } from '#infra/process-manager/process-manager.ts';
import type { ProcessStatus } from '#infra/process-manager/status-channel.ts';
import { RealAgent } from '#test/integration/support/agent.ts';
import { Netns } from '#test/integration/support/netns.ts';
import { programFile } from '#test/support/program-command.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { isListening, until } from '#test/support/wait.ts';

const main = programFile('agent');

interface Supervised {
  readonly process: ManagedProcess;
  readonly seen: ProcessStatus[];
}

describe('a node under the process manager', { skip: withoutNodes(), timeout: 240_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'supervised-'));
  const vppFolder = join(folder, 'vpp');
  const manager = new ProcessManager({
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
  });
  let netns: Netns;
  let agent: RealAgent;

  before(async () => {
    netns = await Netns.create('supervised');
    mkdirSync(vppFolder);
    // Only for its configuration, and to ask the agent.
    agent = new RealAgent(netns, join(folder, 'agent'), {
      label: 'node1',
      vppSocket: join(vppFolder, 'api.sock'),
      etcdEndpoint: '127.0.0.1:2379',
      links: 'VETH',
    });
  });
  after(async () => {
    await manager.close();
    await netns?.remove();
    for (const segment of ['global_vm', 'vpe-api'])
      rmSync(`/dev/shm/${basename(vppFolder)}-${segment}`, { force: true });
    rmSync(folder, { recursive: true, force: true });
  });

  async function supervise(
    name: string,
    restarts: number,
    command: readonly string[],
  ): Promise<Supervised> {
    const [program = '', ...args] = [...netns.enter, ...command];
    const file = join(folder, `${name}.log`);
    const options = { args, restarts, output: { file }, errorOutput: { file }, notify: true };
    const one = await manager.create(name, program, options);
    const seen: ProcessStatus[] = [];
    void (async () => {
      for await (const status of one.notifications!) seen.push(status);
    })();
    await one.start();
    return { process: one, seen };
  }

  const isReady = async (): Promise<boolean> =>
    (await agent.get('/readiness').catch(() => ({ status: 0 }))).status === 200;

  /** Kills the process as a crash does. @returns when its end was noticed */
  async function kill({ process: one, seen }: Supervised): Promise<void> {
    const pid = one.pid!;
    seen.length = 0;
    process.kill(pid, 'SIGKILL');
    await until(`${one.name} has ended`, () => seen.includes('terminated'));
    // The kernel may show a process that ends, such as a VPP that frees its memory, in other states before.
    seen.splice(0, seen.indexOf('terminated'));
    assert.deepEqual(await one.wait(), { code: undefined, signal: 'SIGKILL' });
    assert.notEqual(one.pid, pid);
  }

  async function isRestarted(supervised: Supervised): Promise<void> {
    const { process: one, seen } = supervised;
    await until(`${one.name} runs again`, () => one.isAlive && seen.length > 1);
    assert.equal(seen[0], 'terminated');
    assert.ok(seen.slice(1).every((status) => status !== 'terminated'));
    await until('the agent is ready', isReady, 120_000);
  }

  async function isGivenUp({ process: one }: Supervised): Promise<void> {
    // Longer than the first delays of a restart.
    await systemClock.sleep(2_000);
    assert.deepEqual([one.status, one.isAlive, one.pid], ['terminated', false, undefined]);
  }

  it('has each process restarted as often as configured, and is ready again', async () => {
    const data = join(folder, 'etcd');
    const etcd = await supervise('etcd', -1, ['etcd', `--data-dir=${data}`]);
    const startup = join(vppFolder, 'startup.conf');
    writeFileSync(
      startup,
      `unix { nodaemon nosyslog runtime-dir ${vppFolder} cli-listen ${vppFolder}/cli.sock poll-sleep-usec 100 }
api-segment { prefix ${basename(vppFolder)} }
socksvr { socket-name ${vppFolder}/api.sock }
statseg { socket-name ${vppFolder}/stats.sock }
memory { main-heap-size 512M main-heap-page-size 4k }
buffers { buffers-per-numa 16384 page-size 4k }
plugins { plugin dpdk_plugin.so { disable } }
`,
    );
    const vpp = await supervise('vpp', 2, ['vpp', '-c', startup]);
    await until('VPP answers', () => isListening(join(vppFolder, 'api.sock')), 60_000);
    const flags = [`--config-dir=${join(folder, 'agent')}`, '--microservice-label=node1'];
    const supervisedAgent = await supervise('agent', 1, [process.execPath, main, ...flags]);
    await until('the agent is ready', isReady, 120_000);
    assert.deepEqual(
      manager.all().map(({ name, isAlive }) => `${name} ${isAlive}`),
      ['etcd true', 'vpp true', 'agent true'],
    );

    for (const one of [etcd, vpp, supervisedAgent]) {
      await kill(one);
      await isRestarted(one);
    }
    await kill(vpp);
    await isRestarted(vpp);
    await kill(etcd);
    await isRestarted(etcd);
    // Both have used up their restarts.
    await kill(vpp);
    await isGivenUp(vpp);
    await until('the agent misses VPP', async () => !(await isReady()));
    await kill(supervisedAgent);
    await isGivenUp(supervisedAgent);
    // A start by hand counts from the beginning.
    await vpp.process.start();
    await supervisedAgent.process.start();
    await until('the agent is ready', isReady, 120_000);
    await kill(supervisedAgent);
    await isRestarted(supervisedAgent);

    const pids = manager.all().map(({ pid }) => pid!);
    await manager.close();
    for (const pid of pids) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  });
});
