/** Two whole agents with one label on one etcd. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { makeNode, type RunningAgent, startAgent } from '#test/cmd/agent/harness.ts';
import { withoutEtcd } from '#test/support/requirements.ts';
import { EtcdServer } from '../support/etcd-server.ts';

const DUPLICATE = /another agent with the label (?<label>\S+) is running on host (?<host>[\d.]+)/;

interface Readiness {
  readonly status: number;
  /** Label and host of the other agent; undefined if none is reported. */
  readonly duplicate: string | undefined;
}

async function readiness(agent: RunningAgent): Promise<Readiness> {
  const { status, body } = await agent.get('/readiness');
  const found = DUPLICATE.exec(JSON.stringify(body))?.groups;
  return { status, duplicate: found && `${found['label']} ${found['host']}` };
}

/** The agents look at each other every 10 s. */
async function eventually(agents: readonly RunningAgent[], expected: readonly Readiness[]) {
  const deadline = systemClock.monotonic() + 60_000;
  let actual = await Promise.all(agents.map(readiness));
  while (JSON.stringify(actual) !== JSON.stringify(expected)) {
    if (systemClock.monotonic() > deadline) break;
    await systemClock.sleep(200);
    actual = await Promise.all(agents.map(readiness));
  }
  assert.deepEqual(actual, expected);
}

describe('two agents with one label on etcd', { skip: withoutEtcd(), timeout: 200_000 }, () => {
  it('report each other in readiness, and the one that stays recovers when the other stops', async () => {
    const etcd = await EtcdServer.start();
    const stores = Array.from({ length: 6 }, () => etcd.store());
    const agents: RunningAgent[] = [];
    try {
      await stores[0]!.put('/vnf-agent/contiv-ksr/k8s/namespace/default', '{"name":"default"}');
      // two pairs, in which the agent that started first or last will stop, and a single agent
      const labels = ['node1', 'node1', 'node2', 'node2', 'node3'];
      for (const [at, label] of labels.entries())
        agents.push(
          await startAgent(
            { ...makeNode(), cluster: stores[at]! },
            { label, env: { HOST_IP: `172.16.0.${at + 1}` } },
          ),
        );
      const alone = { status: 200, duplicate: undefined };
      await eventually(agents, [
        { status: 500, duplicate: 'node1 172.16.0.2' },
        { status: 500, duplicate: 'node1 172.16.0.1' },
        { status: 500, duplicate: 'node2 172.16.0.4' },
        { status: 500, duplicate: 'node2 172.16.0.3' },
        alone,
      ]);
      for (const { logged } of agents.slice(0, 4))
        assert.match(JSON.stringify(logged), /CV_DBWATCHER_DUPLICATE_LABEL/);
      const [first, second, third, fourth, fifth] = agents as [
        RunningAgent,
        RunningAgent,
        RunningAgent,
        RunningAgent,
        RunningAgent,
      ];
      await first.stop();
      await fourth.stop();
      await eventually([second, third, fifth], [alone, alone, alone]);
      const prefix = '/contiv-vswitch/agents/';
      const { entries } = await stores[5]!.list(prefix);
      assert.deepEqual(
        entries.map(({ key }) => key.slice(prefix.length).split('/')[0]),
        ['node1', 'node2', 'node3'],
      );
    } finally {
      for (const agent of agents) await agent.stop();
      for (const store of stores) await store.close();
      await etcd.close();
    }
  });
});
