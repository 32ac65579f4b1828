/** The agent crashes at each message of a change of services; the next agent repairs what it has left. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { selectNumbers } from '#test/support/part-of-cases.ts';
import {
  endpointsValue,
  localPod,
  remotePod,
  serviceValue,
} from '../../plugins/service/service-values.ts';
import { configuration } from './configuration.ts';
import { Life } from './crash.ts';
import { makeNode, type Node, startAgent, until } from './harness.ts';
import { type KubeChange, writeChange } from './kube-change.ts';

const mappingsOf = async (node: Node): Promise<string> =>
  JSON.stringify((await configuration(node)).vpp['nat44']);

/** NAT44 of a node whose agent was not interrupted. */
async function reached(records: readonly KubeChange[]): Promise<string> {
  const node = makeNode();
  for (const record of records) await writeChange(node, record);
  await using _running = await startAgent(node);
  return mappingsOf(node);
}

/** @returns the number of crash points */
async function crashAtEveryPoint(
  before: readonly KubeChange[],
  change: KubeChange,
): Promise<number> {
  const goal = await reached([...before, change]);
  for (const endAt of selectNumbers()) {
    const node = makeNode();
    for (const record of before) await writeChange(node, record);
    const life = new Life(node);
    const first = await startAgent(node, {
      environment: {
        ...life.environment(),
        // the record is written by the reflector, not by the agent
        cluster: node.cluster,
      },
    });
    life.arm(endAt);
    await writeChange(node, change);
    await until(async () => life.isOver || (await mappingsOf(node)) === goal);
    await first.stop();
    life.end();
    await using _second = await startAgent(node);
    assert.equal(await mappingsOf(node), goal, `point ${endAt}, ${life.names.at(-1)}`);
    if (!life.isOver) return life.points;
  }
  return assert.fail('no last point');
}

const ports = [
  { name: 'http', protocol: 'TCP', port: 80, node_port: 30080 },
  { name: 'dns', protocol: 'UDP', port: 53, node_port: 30053 },
];
const web = serviceValue('web', '10.96.0.10', { service_type: 'NodePort', port: ports });
const affine = serviceValue('web', '10.96.0.10', {
  session_affinity: 'ClientIP',
  session_affinity_timeout: 600,
});
const three = endpointsValue('web', [localPod(2), localPod(3), remotePod(2)]);
const two = endpointsValue('web', [localPod(3), remotePod(3)]);
const one = endpointsValue('web', [localPod(3)]);
const { resource, key } = web;

const scenarios: Readonly<Record<string, readonly [readonly KubeChange[], KubeChange]>> = {
  'the creation of a service': [[web], three],
  'a change of its backends': [[web, three], two],
  'the removal of all backends but one': [[web, three], one],
  'a change of its backends with affinity': [[affine, three], two],
  'the change to affinity': [[web, three], affine],
  'the deletion of a service': [[web, three], { resource, key }],
};

describe('an agent that crashes at any message', () => {
  for (const [name, [before, change]] of Object.entries(scenarios)) {
    it(`of ${name} leaves nothing that the next one does not repair`, async (t) => {
      const points = await crashAtEveryPoint(before, change);
      t.diagnostic(`${points} points`);
      assert.ok(points >= 2);
    });
  }
});
