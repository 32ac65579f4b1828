/** The agent, on simulated VPP and Linux, with a real Kafka. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { parseConfig } from '#infra/config/load.ts';
import { silentLogger } from '#infra/log/log.ts';
import { kafkaSchema } from '#infra/messaging/config.ts';
import { KafkaClient } from '#infra/messaging/kafka-client.ts';
import { interfaceStateModel } from '#models/vpp/interface-state.ts';
import { makeNode, type RunningAgent, startAgent } from '#test/cmd/agent/harness.ts';
import { withoutKafka } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { KafkaServer } from '../support/kafka-server.ts';

interface PublishedEvent {
  readonly SeqNum: number;
  readonly Name: string;
  readonly Node: string;
  readonly Txn: unknown;
}

const LIMIT_MS = 60_000;

describe('agent with Kafka', { skip: withoutKafka(), timeout: 600_000 }, () => {
  let server: KafkaServer;
  before(async () => {
    server = await KafkaServer.start();
  });
  after(() => server?.close());

  async function metric(agent: RunningAgent, name: string): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${agent.agent.port}/metrics`);
    const line = (await response.text()).split('\n').find((one) => one.startsWith(`${name} `));
    return Number(line?.split(' ')[1] ?? 0);
  }

  async function kafkaState(agent: RunningAgent) {
    const { status, body } = await agent.get('/readiness');
    const { PluginStatus } = body as {
      PluginStatus: Record<string, { state?: number; error?: string }>;
    };
    return {
      ready: status,
      state: PluginStatus['kafka']?.state,
      error: PluginStatus['kafka']?.error,
    };
  }

  it('publishes its events and the state of its interfaces, also those from before Kafka was available', async (t) => {
    const addrs = `127.0.0.1:${server.port}`;
    const text = `addrs: ["${addrs}"]\nevents-topic: events\ninterface-state-topic: if_state\n`;
    const kafka = parseConfig(kafkaSchema, text, 'kafka.conf').value;
    await server.kill();
    const begin = systemClock.monotonic();
    await using agent = await startAgent(makeNode(), { kafka });
    const startMs = systemClock.monotonic() - begin;
    assert.ok(startMs < 30_000, `the start takes ${startMs} ms without Kafka`);
    await until('the status names the broker', async () => (await kafkaState(agent)).state === 2);
    const down = await kafkaState(agent);
    assert.match(down.error ?? '', /ECONNREFUSED/);
    assert.equal(down.ready, 200);
    assert.equal((await agent.get('/liveness')).status, 200);

    await server.run();
    const client = new KafkaClient({
      options: {
        brokers: [{ host: '127.0.0.1', port: server.port }],
        groupId: 'test',
        clientId: 'test',
      },
      clock: systemClock,
      random: seededRandom(1),
      log: silentLogger,
    });
    t.after(() => client.close());
    const events = new Map<number, PublishedEvent>();
    client.watchTopic('events', ({ key, value }) => {
      assert.equal(key, 'node1');
      const event = JSON.parse(String(value)) as PublishedEvent;
      events.set(event.SeqNum, event);
    });
    const states = new Map<string, string>();
    client.watchTopic('if_state', ({ key, value }) => {
      const state = interfaceStateModel.parse(JSON.parse(String(value)));
      assert.equal(key, interfaceStateModel.key(state));
      states.set(state.name, state.oper_status);
    });
    const history = async () =>
      (await agent.get('/controller/event-history')).body as readonly PublishedEvent[];
    await until(
      'all events are published',
      async () => (await history()).every(({ SeqNum }) => events.has(SeqNum)),
      LIMIT_MS,
    );
    for (const event of await history())
      assert.deepEqual(events.get(event.SeqNum), { ...event, Txn: null, Node: 'node1' });
    await until('the interfaces are published', () => states.get('tap-vpp2') === 'UP', LIMIT_MS);
    await until('the status is OK', async () => (await kafkaState(agent)).state === 1, LIMIT_MS);
    const delivered = 'contiv_notifications_total{outcome="delivered"}';
    await until(
      'all are counted',
      async () => (await metric(agent, delivered)) >= events.size + states.size,
    );
  });
});
