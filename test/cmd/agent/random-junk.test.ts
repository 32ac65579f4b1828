/** Random junk in every record and value that an agent reads: no restart, and pods are attached. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { configModels } from '#models/registry.ts';
import { addPod, until } from './harness.ts';
import { nodeWithNics, Scenario, setNodeConfig } from './scenario.ts';

const PREFIX = '/vnf-agent/node1/';
const BATCHES = 12;
const BATCH = 8;

const text = fc.constantFrom(
  ...['', 'x', 'node1', 'eth1', 'host-eth1', 'host-eth9', 'Gig9', '__proto__', '\u0000', '../..'],
  ...['10.1.1.1', '10.1.1.5/32', '192.168.16.1/24', '0.0.0.0/0', '224.0.0.1/4', '::1/128', '1e9'],
);
const scalar = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));
const nic = fc.record({ interface_name: text, ip: text, use_dhcp: fc.boolean() });
/** Values with the fields of records, and any other JSON. */
const recordLike = fc.record(
  {
    name: text,
    namespace: text,
    id: scalar,
    ip_address: scalar,
    ip_addresses: fc.array(scalar, { maxLength: 2 }),
    addresses: fc.array(fc.record({ type: fc.constant(1), address: text }), { maxLength: 2 }),
    host_ip_address: text,
    gateway: text,
    steal_interface: text,
    main_vpp_interface: nic,
    other_vpp_interfaces: fc.array(nic, { maxLength: 2 }),
    type: fc.constantFrom('DPDK', 'TAP', 'VXLAN_TUNNEL', 'AF_PACKET', 'SOFTWARE_LOOPBACK', 'x', 7),
    enabled: fc.boolean(),
    vrf: scalar,
    dst_network: text,
    next_hop_addr: text,
    outgoing_interface: text,
  },
  { requiredKeys: [] },
);
const junk = fc.oneof(
  { weight: 4, arbitrary: recordLike.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 2 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
);

const { node, vppnode, pod, nodeconfig, policy, service } = resources;
const recordKey = fc.constantFrom(
  ...[1, 2, 7, 300, 4294967295].map((id) => vppnode.key(String(id), '')),
  ...['node1', 'node2'].map((name) => node.key(name, '')),
  ...[pod.key('web', 'default'), policy.key('p', 'default'), service.key('s', 'default')],
  ...[nodeconfig.key('node1', ''), nodeconfig.key('node1', ''), 'allocatedIDs/x', 'k8s/junk'],
);
const valueKey = fc
  .tuple(fc.constantFrom(...configModels.map(({ keyPrefix }) => keyPrefix)), text)
  .map(([prefix, name]) => `${PREFIX}${prefix}${name === '' ? 'junk' : name}`);
const key = fc.oneof(
  recordKey.map((one) => REFLECTOR_PREFIX + one),
  valueKey,
);

describe('random junk in the database', { timeout: 120_000 }, () => {
  for (const seed of [1, 2, 3])
    it(`fails neither liveness nor an Add Pod, and ends without a restart (seed ${seed})`, async () => {
      const machine = await nodeWithNics();
      await setNodeConfig(machine, {});
      await using scenario = await Scenario.start(
        {
          controller: { delayAfterErrorHealing: '10ms', enableRetry: false },
          contiv: { crdNodeConfigurationDisabled: false },
        },
        machine,
      );
      const { running } = scenario;
      const isReady = async () => (await running.get('/readiness')).status === 200;
      await until(isReady);
      const { entries } = await machine.cluster.list('/');
      const before = new Map(entries.map((entry) => [entry.key, entry.value]));
      const cases = fc.sample(fc.tuple(key, junk), { seed, numRuns: BATCHES * BATCH });
      for (let batch = 0; batch < BATCHES; batch++) {
        const puts = cases.slice(batch * BATCH, (batch + 1) * BATCH);
        for (const [one, value] of puts) await machine.cluster.put(one, value);
        await setNodeConfig(machine, { main_vpp_interface: { interface_name: 'host-eth1' } });
        await until(() => running.agent.controller.isIdle);
        const name = `p${batch}`;
        const reply = await addPod(running, {
          name,
          containerId: `c${batch}`,
          netns: `/n/${name}`,
        });
        const where = JSON.stringify(puts);
        assert.equal(reply.error, '', where);
        assert.equal((await running.get('/liveness')).status, 200, where);
      }
      const now = await machine.cluster.list('/');
      for (const { key: one } of now.entries)
        if (!before.has(one)) await machine.cluster.delete(one);
      for (const [one, value] of before) await machine.cluster.put(one, value);
      await until(isReady);
      assert.equal((await running.get('/liveness')).status, 200);
    });
});
