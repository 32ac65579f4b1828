/** Links of NICs, which exist by themselves, and notifications after a restart of VPP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { linkStateKey } from '#models/vpp/derived.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import type { DHCPLease } from '#models/vpp/interface-state.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { startWatchingAgent } from '#test/descriptors/compliance/watching-agent.ts';

const NAME = 'GigabitEthernet0/8/0';
const link = (state: 'UP' | 'DOWN') => linkStateKey.build({ iface: NAME, state });

function nic(more: object = {}): KeyedValue {
  const value = vppInterfaceModel.canonical({ name: NAME, type: 'DPDK', ...more });
  return { key: vppInterfaceModel.key(value), value };
}

function loopback(name: string): KeyedValue {
  const value = vppInterfaceModel.canonical({ name, type: 'SOFTWARE_LOOPBACK', enabled: true });
  return { key: vppInterfaceModel.key(value), value };
}

const everything = { sw_if_index: 0xffff_ffff, name_filter_valid: false, name_filter: '' };

async function machine(t: { after(done: () => Promise<void>): void }) {
  const clock = new ManualClock();
  const random = seededRandom(1);
  const vpp = new SimVpp({ nics: [NAME], clock, random, log: silentLogger });
  const pass = (ms: number) => clock.advance(ms);
  const agent = await startWatchingAgent({ clock, connect: vpp.connect(), links: [], pass });
  t.after(async () => {
    await agent.stop();
    vpp.close();
  });
  const lease = () =>
    agent.scheduler.metadataMap<DHCPLease>('vpp-dhcp-lease')?.getValue(NAME)?.host_ip_address;
  return { vpp, agent, pass, lease };
}

test('the link of a NIC is reported before it is configured, and when its state changes', async (t) => {
  const { vpp, agent } = await machine(t);
  await agent.commit('full-resync', []);
  assert.equal(agent.state(nic().key), 'OBTAINED');
  assert.equal(agent.state(link('DOWN')), 'OBTAINED');

  await agent.commit('update', [nic({ enabled: true, mtu: 1500 })]);
  await agent.until('link is up', () => agent.state(link('UP')) === 'OBTAINED');
  assert.equal(agent.state(link('DOWN')), 'NONEXISTENT');
  const before = vpp.requests.length;
  vpp.nics.setCarrier(NAME, false);
  await agent.until('link is down', () => agent.state(link('DOWN')) === 'OBTAINED');
  vpp.nics.setCarrier(NAME, true);
  await agent.until('link is up again', () => agent.state(link('UP')) === 'OBTAINED');
  const asked = vpp.requests.slice(before).filter(({ kind }) => kind === 'request');
  assert.deepEqual(asked, [], 'only dumps');
});

test('many events cause few dumps, and no dump occurs without an event', async (t) => {
  const { vpp, agent, pass } = await machine(t);
  await agent.commit('full-resync', [nic({ enabled: true })]);
  await pass(1000);
  const dumps = () => vpp.requests.filter((each) => each.name === 'sw_interface_dump').length;
  const before = dumps();
  for (let i = 0; i < 100; i++) {
    vpp.nics.setCarrier(NAME, i % 2 === 1);
    await pass(1);
  }
  await pass(100);
  assert.equal(agent.state(link('UP')), 'OBTAINED');
  const during = dumps() - before;
  assert.ok(during >= 1 && during <= 5, `${during} dumps`);
  await pass(5000);
  assert.equal(dumps() - before, during);
});

test('after an event only its interface is read, among any number of others', async (t) => {
  const { vpp, agent, pass } = await machine(t);
  const loops = Array.from({ length: 100 }, (_, at) => loopback(`loop${at}`));
  await agent.commit('full-resync', [nic({ enabled: true }), ...loops]);
  await pass(1000);
  const found = await agent.client.dump('sw_interface_dump', everything);
  const index = found.find(({ interface_name }) => interface_name === NAME)?.sw_if_index;
  const before = vpp.requests.length;

  vpp.nics.setCarrier(NAME, false);
  await agent.until('link is down', () => agent.state(link('DOWN')) === 'OBTAINED');
  const read = vpp.requests.slice(before).filter(({ name }) => name === 'sw_interface_dump');
  assert.deepEqual(
    read.map(({ fields }) => fields),
    [{ ...everything, sw_if_index: index }],
  );
});

test('a periodic read finds what no event has reported', async (t) => {
  const { vpp, agent, pass } = await machine(t);
  await agent.commit('full-resync', [nic({ enabled: true })]);
  await pass(1000);
  const dumps = () => vpp.requests.filter(({ name }) => name === 'sw_interface_dump').length;
  // events that are further apart than a read takes do not delay it
  for (let second = 0; second < 8; second++) {
    vpp.nics.setCarrier(NAME, second % 2 === 1);
    await pass(1000);
  }
  const before = dumps();
  await pass(2000);
  assert.equal(dumps() - before, 1);
});

test('the link of a VLAN follows its NIC, for which alone VPP sends an event', async (t) => {
  const { vpp, agent, pass } = await machine(t);
  const value = vppInterfaceModel.canonical({
    name: 'vlan7',
    type: 'SUB_INTERFACE',
    enabled: true,
    sub: { parent_name: NAME, sub_id: 7 },
  });
  const down = linkStateKey.build({ iface: 'vlan7', state: 'DOWN' });
  const vlan = { key: vppInterfaceModel.key(value), value };
  await agent.commit('full-resync', [nic({ enabled: true }), vlan]);
  await pass(1000);
  assert.equal(agent.state(down), 'NONEXISTENT');
  vpp.nics.setCarrier(NAME, false);
  await pass(200);
  assert.equal(agent.state(down), 'OBTAINED');

  await agent.commit('update', [{ key: vlan.key, value: null as never }]);
  await pass(200);
  assert.equal(agent.state(down), 'NONEXISTENT');
  vpp.nics.setCarrier(NAME, true);
  await pass(200);
  assert.equal(agent.state(down), 'NONEXISTENT');
});

test('a restarted VPP has no lease until it is configured again', async (t) => {
  const { vpp, agent, pass, lease } = await machine(t);
  vpp.dhcpServer.offer(NAME, { address: '192.168.77.5/24' });
  const desired = nic({ enabled: true, set_dhcp_client: true });
  await agent.commit('full-resync', [desired]);
  await agent.until('lease', () => lease() === '192.168.77.5/24');
  vpp.crash();
  await vpp.start();
  // whatever has the index of the NIC now is not taken for it by the old metadata
  await agent.until('no lease', () => lease() === undefined);
  assert.equal(agent.state(link('DOWN')), 'OBTAINED');
  await agent.commit('full-resync', [desired]);
  await agent.until('lease again', () => lease() === '192.168.77.5/24');
  assert.equal(agent.state(link('UP')), 'OBTAINED');
  await pass(30_000);
  assert.equal(lease(), '192.168.77.5/24');
});
