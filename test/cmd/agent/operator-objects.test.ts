/** Objects of VPP with names: those that the agent has made are removed, those of an operator stay. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { aclModel } from '#models/vpp/acl.ts';
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { ExternalConfigChange, type ExternalConfigSource } from '#plugins/controller/api/events.ts';
import { keyedValue, loop } from '#test/descriptors/compliance/example-values.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { configuration } from './configuration.ts';
import { Life } from './crash.ts';
import {
  makeNode,
  type Node,
  prepareAgent,
  type RunningAgent,
  startAgent,
  until,
} from './harness.ts';

const SOURCE = 'operator';
/** External configuration that was removed while the agent was not running. */
const externalSources: ExternalConfigSource[] = [{ label: SOURCE, snapshot: async () => ({}) }];

const rules = [{ action: 'PERMIT' as const, ip_rule: { ip: { source_network: '10.1.1.0/24' } } }];
const values = Object.fromEntries(
  [
    loop('loop1', { ip_addresses: ['10.99.0.1/24'] }),
    keyedValue(bridgeDomainModel, { name: 'bd1' }),
    keyedValue(aclModel, { name: 'acl1', rules, interfaces: { ingress: ['loop1'] } }),
  ].map(({ key, value }) => [key, value]),
);
const noValues = Object.fromEntries(Object.keys(values).map((key) => [key, null]));

async function apply(running: RunningAgent, changes: Record<string, object | null>) {
  const { controller } = running.agent;
  controller.push(ExternalConfigChange.event({ source: SOURCE, values: changes }));
  await until(() => controller.isIdle);
}

/** A loopback and a bridge domain that an operator has made and named. */
async function operatorObjects(node: Node): Promise<void> {
  const needs = { clock: systemClock, random: systemRandom, log: silentLogger };
  const client = new BinapiClient({ connect: node.vpp.connect(), ...needs });
  client.start();
  await client.whenConnected();
  const mac_address = new Uint8Array(6);
  const { sw_if_index } = await client.request('create_loopback', { mac_address });
  const tag = 'operator';
  await client.request('sw_interface_tag_add_del', { is_add: true, sw_if_index, tag });
  await client.request('bridge_domain_add_del_v2', {
    bd_id: 0xffff_ffff,
    ...{ flood: true, uu_flood: true, forward: true, learn: true, arp_term: false },
    ...{ arp_ufwd: false, mac_age: 0, bd_tag: tag, is_add: true },
  });
  await client.close();
}

async function state(node: Node) {
  const { vpp, remembered } = await configuration(node);
  return { vpp, records: remembered.filter((key) => key.startsWith('local/vpp/')) };
}

describe('objects of VPP with names', () => {
  for (const [title, before, change] of [
    ['are made', {}, values],
    ['are deleted', values, noValues],
  ] as const)
    it(`are removed if the agent crashes at any point while they ${title}`, async (t) => {
      let points = 0;
      for (let endAt = 1; ; endAt++) {
        const node = makeNode();
        await operatorObjects(node);
        const life = new Life(node);
        const options = { environment: life.environment(), externalSources };
        const first = await startAgent(node, options);
        const empty = await state(node);
        await apply(first, before);
        life.arm(endAt);
        const { controller } = first.agent;
        controller.push(ExternalConfigChange.event({ source: SOURCE, values: change }));
        await until(() => life.isOver || controller.isIdle);
        await first.stop();
        life.end();
        const second = await startAgent(node, { externalSources });
        await second.stop();
        assert.deepEqual(await state(node), empty, `point ${endAt}, ${life.names.at(-1)}`);
        if (!life.isOver) break;
        points++;
      }
      t.diagnostic(`${points} points`);
      assert.ok(points > 10);
    });

  it('are removed by an undeploy, without those of an operator', async () => {
    const node = makeNode();
    await operatorObjects(node);
    const { vpp } = await configuration(node);
    const running = await startAgent(node, { externalSources });
    await apply(running, values);
    await running.stop();
    await prepareAgent(node, { externalSources }).agent.undeploy();
    const after = await configuration(node);
    assert.deepEqual({ ...after.vpp, neighborAging: 0 }, { ...vpp, neighborAging: 0 });
    assert.deepEqual(after.remembered, []);
  });
});
