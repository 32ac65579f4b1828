/**
 * A cluster of three agents on simulated nodes whose database is wiped and written again. The first
 * agent reads it while the others have not announced themselves yet.
 */
import assert from 'node:assert/strict';
import type { KvStore } from '#datastore/api.ts';
import { type Node as KubeNode, nodeModel } from '#kubernetes/models/node.ts';
import { REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import { nodeValue } from '#test/plugins/test-node.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { makeNode, type RunningAgent, startAgent, until } from './harness.ts';

const NAMES = ['node1', 'node2', 'node3'];

export interface WipedDatabase {
  /** A connection to the database, for an agent or the reflector. */
  connect(): KvStore;
  /** Replaces the database by an empty one. */
  wipe(): Promise<void>;
}

/** Writes the records of the reflector. */
async function reflect(store: KvStore): Promise<void> {
  await store.put(`${REFLECTOR_PREFIX}k8s/namespace/default`, '{"name":"default"}');
  for (const [at, name] of NAMES.entries()) {
    const { key, value } = nodeValue(name, `172.16.0.${at + 1}`);
    await store.put(REFLECTOR_PREFIX + key, JSON.stringify(nodeModel.toJson(value as KubeNode)));
  }
}

interface ExecutedOperation {
  readonly Operation: string;
  readonly Key: string;
}

/** Operations of an agent on tunnels and routes, as texts. */
async function operations(running: RunningAgent): Promise<string[]> {
  const { body } = await running.get('/scheduler/txn-history');
  return (body as { Executed?: ExecutedOperation[] }[])
    .flatMap(({ Executed }) => Executed ?? [])
    .filter(({ Key }) => /vxlan|config\/vpp\/v2\/route/.test(Key))
    .map(({ Operation, Key }) => `${Operation} ${Key}`);
}

async function isReady(running: RunningAgent): Promise<boolean> {
  return (await running.get('/readiness')).status === 200;
}

/** Whether VPP has reported the links of the tunnels, too: their operations come after the transaction. */
async function hasTunnels(running: RunningAgent, count: number): Promise<boolean> {
  const made = await operations(running);
  const links = made.filter((text) =>
    /^CREATE vpp\/interface\/vxlan.*\/link-state\/UP$/.test(text),
  );
  // and that of their bridge's own interface
  return links.length === count + 1;
}

/** No tunnel and no route is deleted, although the agents announce themselves late. */
export async function keepTunnels(database: WipedDatabase): Promise<void> {
  const reflector = database.connect();
  await reflect(reflector);
  const stores = NAMES.map(() => new FaultInjectingStore(database.connect()));
  const agents: RunningAgent[] = [];
  try {
    for (const [at, label] of NAMES.entries()) {
      const node = { ...makeNode(), cluster: stores[at]! };
      agents.push(
        await startAgent(node, {
          label,
          controller: { remoteDBProbingInterval: '30ms' },
        }),
      );
    }
    for (const agent of agents) await until(() => hasTunnels(agent, 2));
    const before = await Promise.all(agents.map(operations));
    for (const store of stores) store.disconnect('stopped');
    for (const agent of agents) await until(async () => !(await isReady(agent)));
    await database.wipe();
    await reflect(reflector);
    // One after the other: each reads a database in which the later ones are still missing.
    for (const [at, store] of stores.entries()) {
      store.reconnect();
      await until(() => isReady(agents[at]!));
    }
    const prefix = `${REFLECTOR_PREFIX}allocatedIDs/`;
    await until(async () => (await reflector.list(prefix)).entries.length === NAMES.length);
    for (const [at, agent] of agents.entries()) {
      const after = (await operations(agent)).slice(before[at]!.length);
      assert.deepEqual(after, [], `operations of ${NAMES[at]}`);
    }
  } finally {
    for (const agent of agents) await agent.stop();
    for (const store of [reflector, ...stores]) await store.close();
  }
}
