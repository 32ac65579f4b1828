/** A recording with pods, nodes, external configuration and faults. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { StoreRefusedError } from '#datastore/api.ts';
import { seededRandom } from '#infra/clock/manual.ts';
import { agentPrefix } from '#infra/service-label/service-label.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import {
  addPod,
  cniRequest,
  makeNode,
  type Node,
  reflectPod,
  replyAddress,
  startAgent,
  type TestPod,
  unreflectPod,
  until,
} from './harness.ts';

const random = seededRandom(7);

function oneOf<T>(all: readonly T[]): T {
  return all[Math.floor(random.next() * all.length)]!;
}

function pod(number: number): TestPod {
  const containerId = hash('sha256', `container ${number}`);
  return { name: `web-${number}`, containerId, netns: `/run/netns/web-${number}` };
}

const interfaceKey = (name: string): string =>
  `${agentPrefix('node1')}config/vpp/v2/interfaces/${name}`;

/** Another node joins, moves or leaves. */
async function changeNode({ cluster }: Node, id: number): Promise<void> {
  const key = REFLECTOR_PREFIX + resources.vppnode.key(String(id), '');
  const move = Math.floor(random.next() * 4);
  if (move === 0) return void (await cluster.delete(key));
  const value = resources.vppnode.model.canonical({
    id,
    name: `node${id}`,
    ip_addresses: [`192.168.16.${id + 10 * move}/24`],
  });
  await cluster.put(key, valueText(resources.vppnode, value));
}

async function changeExternal({ cluster }: Node): Promise<void> {
  const name = oneOf(['loop1', 'loop2', 'loop3']);
  const mtu = 1000 + Math.floor(random.next() * 500);
  const move = random.next();
  if (move < 0.2) await cluster.delete(interfaceKey(name));
  else if (move < 0.3) await cluster.put(interfaceKey(name), '{not json');
  else
    await cluster.put(
      interfaceKey(name),
      JSON.stringify({ name, type: 'SOFTWARE_LOOPBACK', enabled: true, mtu }),
    );
}

/** @returns how many events were processed */
export async function mixedRun(folder: string, events: number): Promise<number> {
  const node = makeNode();
  const cluster = new FaultInjectingStore(node.cluster);
  const local = new FaultInjectingStore(node.local);
  const environment = { ...node, cluster, local, connectVpp: node.vpp.connect() };
  await using running = await startAgent(node, {
    environment,
    controller: {
      'record-run': folder,
      remoteDBProbingInterval: '30ms',
      delayAfterErrorHealing: '50ms',
    },
  });
  const { controller } = running.agent;
  const attached = new Map<number, string>();
  let number = 0;
  const add = async () => {
    const next = number++;
    const reply = await addPod(running, pod(next));
    if (reply.result === 0) {
      attached.set(next, replyAddress(reply));
      await reflectPod(node, pod(next), replyAddress(reply));
    }
  };
  const remove = async () => {
    const [next] = attached.keys();
    if (next === undefined) return;
    attached.delete(next);
    await running.client.delete(cniRequest(pod(next)));
    if (random.next() < 0.5) node.linux.removeNamespace(pod(next).netns);
    await unreflectPod(node, pod(next));
  };
  const refuse = async () => {
    // Not a resync request: a healing resync that fails would be fatal.
    node.vpp.faults.add(1, { refuse: -1 }, ({ name }) => name.startsWith('tap_create'));
    await add();
    node.vpp.faults.clear();
  };
  const fullDisk = async () => {
    local.beforeWrite = ({ keys }) => {
      if (keys.some((key) => key.includes('/ipam/'))) throw new StoreRefusedError('no space left');
    };
    await add();
    local.beforeWrite = undefined;
  };
  const outage = async () => {
    cluster.disconnect();
    await until(async () => (await running.get('/readiness')).status !== 200);
    await changeNode(node, 2);
    await add();
    cluster.reconnect();
    await until(async () => (await running.get('/readiness')).status === 200);
  };
  const loseVpp = async () => {
    node.vpp.crash();
    await add();
    await node.vpp.start();
    await until(async () => (await running.get('/readiness')).status === 200);
  };
  const resync = async () => cluster.loseWatches('compacted');
  const rare = [outage, loseVpp, resync, fullDisk];
  for (let step = 0; controller.eventCount < events; step++) {
    const chance = random.next();
    if (step % 100 === 50) await rare.shift()?.();
    else if (chance < 0.15) await add();
    else if (chance < 0.25) await remove();
    else if (chance < 0.3) await refuse();
    else if (chance < 0.65) await changeNode(node, 2 + Math.floor(random.next() * 8));
    else await changeExternal(node);
    if (step % 10 === 0) await until(() => controller.isIdle);
  }
  await until(() => controller.isIdle);
  assert.deepEqual(rare, [], 'everything has happened');
  return controller.eventCount;
}
