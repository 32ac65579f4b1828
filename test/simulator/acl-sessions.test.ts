/** Sessions of ACLs of the simulated VPP: traced packets make them, changes of bindings remove them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { toPrefix } from '#vpp/binapi/addresses.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';

const NONE = 0xffff_ffff;
const rule = {
  is_permit: 2,
  src_prefix: toPrefix('0.0.0.0/0'),
  dst_prefix: toPrefix('0.0.0.0/0'),
  proto: 0,
  srcport_or_icmptype_first: 0,
  srcport_or_icmptype_last: 65_535,
  dstport_or_icmpcode_first: 0,
  dstport_or_icmpcode_last: 65_535,
  tcp_flags_mask: 0,
  tcp_flags_value: 0,
};
const flow = {
  protocol: 6,
  source: '10.1.1.2',
  sourcePort: 40_000,
  destination: '10.1.1.3',
  destinationPort: 80,
};

it('sessions of an interface outlive changes of rules, but not of the set of ACLs', async () => {
  const clock = new ManualClock();
  const vpp = new SimVpp({ clock, random: seededRandom(1), log: silentLogger });
  const client = new BinapiClient({
    connect: vpp.connect(),
    clock,
    random: seededRandom(2),
    log: silentLogger,
  });
  client.start();
  await client.whenConnected();
  const { acl: sessions } = vpp.memory;
  const fields = { mac_address: new Uint8Array(6) };
  const { sw_if_index } = await client.request('create_loopback', fields);
  const tagging = { is_add: true, sw_if_index, tag: 'pod' };
  await client.request('sw_interface_tag_add_del', tagging);
  const acls: number[] = [];
  for (const tag of ['first', 'second'])
    acls.push(
      (await client.request('acl_add_replace', { acl_index: NONE, tag, r: [rule] })).acl_index,
    );
  const [first, second] = acls as [number, number];
  const bind = (n_input: number, ...list: readonly number[]) =>
    client.request('acl_interface_set_acl_list', { sw_if_index, n_input, acls: [...list] });
  const remember = (name: string) =>
    sessions.add(name, 'input', flow, { acl: 'first', rule: 0, key: '' });
  const isKnown = (name = 'pod') => sessions.find(name, 'input', flow) !== undefined;

  await bind(1, first);
  for (const name of ['pod', 'other']) remember(name);
  await client.request('acl_add_replace', { acl_index: first, tag: 'first', r: [rule, rule] });
  await bind(1, first);
  assert.ok(isKnown());
  await bind(1, first, second);
  assert.ok(!isKnown(), 'another list of the other direction');
  assert.ok(isKnown('other'));

  remember('pod');
  const added = { sw_if_index, is_add: false, is_input: false, acl_index: second };
  await client.request('acl_interface_add_del', added);
  assert.ok(!isKnown());
  remember('pod');
  await client.request('delete_loopback', { sw_if_index });
  assert.ok(!isKnown());
  assert.ok(isKnown('other'));
  vpp.crash();
  await vpp.start();
  assert.equal(vpp.memory.acl.find('other', 'input', flow), undefined);
  await client.close();
});
