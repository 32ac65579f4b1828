/** External configuration in etcd, and the status of each value beside it, while etcd and the agent fail. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KvStore } from '#datastore/api.ts';
import { seededRandom } from '#infra/clock/manual.ts';
import { makeNode, type Node, type RunningAgent, startAgent } from '#test/cmd/agent/harness.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { withoutEtcd, withoutEtcdctl } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { EtcdServer } from '../support/etcd-server.ts';

const CONFIG = '/vnf-agent/node1/config/';
const STATUS = '/vnf-agent/node1/config-status/';
const CHANGES = 200;

interface ValueStatus {
  readonly state: string;
  readonly error?: string;
  readonly last_operation?: string;
}

describe('the status of external configuration in etcd', {
  skip: withoutEtcd() || withoutEtcdctl(),
  timeout: 240_000,
}, () => {
  let server: EtcdServer;
  let node: Node;
  let writer: KvStore;
  let cluster: FaultInjectingStore;
  let running: RunningAgent;

  before(async () => {
    server = await EtcdServer.start();
    node = makeNode();
    writer = server.store();
    await start();
  });
  after(async () => {
    await running?.stop();
    for (const store of [cluster, writer]) await store?.close();
    await server?.close();
  });

  async function start(): Promise<void> {
    cluster = new FaultInjectingStore(server.store());
    const { local, mirror, linux, vpp } = node;
    running = await startAgent(node, {
      environment: { cluster, local, mirror, linux, connectVpp: vpp.connect() },
      controller: { remoteDBProbingInterval: '200ms' },
    });
  }

  /** From here on nothing that the agent does reaches etcd, as after a SIGKILL. */
  async function kill(): Promise<void> {
    cluster.crashAt(0);
    await running.stop();
    await cluster.close();
  }

  function etcdctl(...args: string[]): string {
    const endpoint = `--endpoints=127.0.0.1:${server.port}`;
    const { status, stdout, stderr } = spawnSync('etcdctl', [endpoint, ...args], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    return stdout;
  }

  const recorded = async () => {
    const { entries } = await writer.list(STATUS);
    return new Map(entries.map(({ key, value }) => [key.slice(STATUS.length), value]));
  };

  /** Expected content of the records: the states of the scheduler, and INVALID for what it never gets. */
  async function expected(): Promise<Map<string, string>> {
    const states = new Map<string, string>();
    for (const { key, value } of (await writer.list(CONFIG)).entries) {
      const name = key.slice(CONFIG.length);
      const { body } = await running.get(`/scheduler/status?key=config/${name}`);
      const { state } = (body as { readonly value: ValueStatus }).value;
      states.set(name, value.includes('"mtu":"') ? 'INVALID' : state);
    }
    return states;
  }

  async function assertEqualToScheduler(): Promise<void> {
    let [found, wanted] = [new Map<string, string>(), new Map<string, string>()];
    await until(
      'the records have the states of the scheduler',
      async () => {
        wanted = await expected();
        found = new Map(
          [...(await recorded())].map(([key, text]) => [
            key,
            (JSON.parse(text) as ValueStatus).state,
          ]),
        );
        return (
          ![...wanted.values()].includes('NONEXISTENT') &&
          JSON.stringify([...found]) === JSON.stringify([...wanted])
        );
      },
      60_000,
    ).catch((error) => {
      assert.deepEqual(found, wanted);
      throw error;
    });
    assert.ok(wanted.size > 0);
  }

  async function assertNoWrites(): Promise<void> {
    const { revision } = await writer.list(STATUS);
    let writes = 0;
    const watch = writer.watch(STATUS, revision, {
      onChanges: (changes) => {
        writes += changes.length;
      },
      onLost: (reason) => assert.fail(reason),
    });
    await sleep(3_000);
    watch.close();
    assert.equal(writes, 0);
  }

  /** Random valid, pending and invalid values, and deletions; `at` is called before its change. */
  async function change(seed: number, at: ReadonlyMap<number, () => unknown>): Promise<void> {
    const random = seededRandom(seed);
    for (let count = 0; count < CHANGES; count++) {
      await at.get(count)?.();
      const number = Math.floor(random.next() * 30);
      const name = `loop${number}`;
      const isArp = random.next() < 0.3;
      const key = `${CONFIG}vpp/v2/${isArp ? `arp/${name}/10.7.0.${number}` : `interfaces/${name}`}`;
      const kind = random.next();
      const value = isArp
        ? { interface: name, ip_address: `10.7.0.${number}`, phys_address: '02:00:00:00:00:01' }
        : {
            name,
            type: 'SOFTWARE_LOOPBACK',
            ...{ mtu: kind < 0.3 ? `${count}x` : 1000 + count },
          };
      for (;;) {
        const write = kind > 0.7 ? writer.delete(key) : writer.put(key, JSON.stringify(value));
        const done = await write.then(
          () => true,
          () => false,
        );
        if (done) break;
        await sleep(50);
      }
    }
  }

  it('is read and written with etcdctl', async () => {
    const name = 'vpp/v2/interfaces/loop0';
    etcdctl('put', CONFIG + name, '{"name":"loop0","type":"SOFTWARE_LOOPBACK"}');
    await until('the status is written', async () => (await recorded()).has(name));
    const lines = etcdctl('get', STATUS + name)
      .trim()
      .split('\n');
    assert.deepEqual(JSON.parse(lines[1]!), {
      key: `config/${name}`,
      state: 'CONFIGURED',
      last_operation: 'CREATE',
    });
    etcdctl('put', CONFIG + name, '{"name":"loop0","type":"NO_SUCH_TYPE"}');
    await until('the value is invalid', async () =>
      /INVALID.+NO_SUCH_TYPE.+last valid value stays in use/.test(
        (await recorded()).get(name) ?? '',
      ),
    );
    etcdctl('del', CONFIG + name);
    await until('the status is removed', async () => (await recorded()).size === 0);
  });

  it('equals the scheduler after etcd was killed in the middle of 200 changes', async () => {
    const restarted: Promise<unknown>[] = [];
    await change(
      1,
      new Map([
        [
          CHANGES / 2,
          async () => {
            await server.kill();
            restarted.push(sleep(1_500).then(() => server.run()));
          },
        ],
      ]),
    );
    await Promise.all(restarted);
    await assertEqualToScheduler();
    await assertNoWrites();
  });

  it('equals the scheduler after the agent was killed in the middle of 200 changes', async () => {
    await change(
      2,
      new Map<number, () => unknown>([
        [CHANGES / 2, kill],
        [CHANGES - 20, start],
      ]),
    );
    await assertEqualToScheduler();
    await assertNoWrites();
  });

  it('equals the scheduler after etcd was wiped', async () => {
    await server.wipe();
    await server.run();
    await change(3, new Map());
    await assertEqualToScheduler();
    await assertNoWrites();
  });
});
