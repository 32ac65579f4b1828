/**
 * What NAT44, ACLs and redirects of VPP have about them that one value alone does not show: what
 * moves between values, what others made, what VPP counts or forgets.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { KeyedValue } from '#kvscheduler/api.ts';
import type { DeepInput } from '#models/model.ts';
import { type Acl, aclModel } from '#models/vpp/acl.ts';
import {
  type DNat44IdentityMapping,
  type DNat44StaticMapping,
  dnat44Model,
} from '#models/vpp/dnat44.ts';
import { ipRedirectModel } from '#models/vpp/ip-redirect.ts';
import { nat44AddressPoolModel } from '#models/vpp/nat44-address-pool.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { nat44InterfaceModel } from '#models/vpp/nat44-interface.ts';
import { stnRuleModel } from '#models/vpp/stn-rule.ts';
import {
  bytesOfAddress,
  fromAddress,
  textOfBytes,
  toPrefix,
} from '#southbound/vpp/binapi/addresses.ts';
import type { VppClient } from '#southbound/vpp/binapi/api.ts';
import { vppDescriptors } from '#southbound/vpp/descriptors/vpp-descriptors.ts';
import { Agent } from '../transitions/world.ts';
import type { VppBackend } from '../vpp/backends.ts';
import { FaultyClient } from './faulty-client.ts';
import { keyed, loop, table } from './keyed.ts';

const all = 0xffff_ffff;

const nat = keyed(nat44GlobalModel, { forwarding: true });
const web = { external_ip: '10.96.0.10', external_port: 80 } as const;

const backend = (last: number, probability = 1) => ({
  vrf_id: 1,
  local_ip: `10.1.1.${last}`,
  local_port: 8080,
  probability,
});

function service(label: string, ...st_mappings: DeepInput<DNat44StaticMapping>[]): KeyedValue {
  return keyed(dnat44Model, { label, st_mappings });
}

function identities(label: string, ...id_mappings: DeepInput<DNat44IdentityMapping>[]): KeyedValue {
  return keyed(dnat44Model, { label, id_mappings });
}

function pool(name: string, first_ip: string, last_ip = '', twice_nat = false): KeyedValue {
  return keyed(nat44AddressPoolModel, { name, first_ip, last_ip, twice_nat, vrf_id: all });
}

const permit = (source_network: string) =>
  ({ action: 'PERMIT', ip_rule: { ip: { source_network } } }) as const;

function acl(name: string, interfaces: DeepInput<Acl>['interfaces'] = {}): KeyedValue {
  return keyed(aclModel, { name, rules: [permit('10.1.0.0/16'), { action: 'DENY' }], interfaces });
}

function toMap(values: readonly KeyedValue[]): Map<string, object> {
  return new Map(values.map(({ key, value }) => [key, value]));
}

export function servicesSuite(start: () => Promise<VppBackend>): void {
  describe('services, ACLs and redirects', () => {
    let backendUnderTest: VppBackend;
    let client: VppClient;
    let agent: Agent;
    let faulty: FaultyClient;
    /** Changes that were asked for since the last look. */
    const taken = (): readonly string[] => faulty.asked.splice(0);

    before(async () => {
      backendUnderTest = await start();
      client = backendUnderTest.client;
      faulty = new FaultyClient(client);
    });
    beforeEach(() => {
      agent = newAgent();
    });
    afterEach(async () => {
      await agent.resync(new Map());
      await agent.close();
    });
    after(() => backendUnderTest?.stop());

    const newAgent = (): Agent =>
      new Agent({
        ...backendUnderTest,
        descriptors: () =>
          vppDescriptors({ client: faulty.client, clock: systemClock, log: silentLogger }),
        cut: (n) => faulty.cut(n),
        get changes() {
          return faulty.changes;
        },
      });
    const restart = async (...values: KeyedValue[]): Promise<readonly string[]> => {
      await agent.close();
      agent = newAgent();
      taken();
      return agent.resync(toMap(values));
    };
    const put = (...values: KeyedValue[]) => agent.update(toMap(values));
    const apply = async (...values: KeyedValue[]): Promise<void> => {
      await agent.resync(toMap(values));
      await agent.assertSettled();
      taken();
    };

    const addresses = async (): Promise<readonly string[]> => {
      const found = await client.dump('nat44_address_dump', {});
      return found.map(({ ip_address, flags }) => `${textOfBytes(ip_address)} ${flags}`).sort();
    };
    const balanced = async (): Promise<readonly string[]> => {
      const found = await client.dump('nat44_lb_static_mapping_dump', {});
      return found
        .map(({ tag, locals }) => {
          const ends = locals.map(({ addr, probability }) => `${addr[3]}*${probability}`).sort();
          return `${tag}: ${ends.join(' ')}`;
        })
        .sort();
    };

    test('nothing of NAT44 is asked for before it is enabled, nor after', async () => {
      const waiting = [
        loop('a'),
        keyed(nat44InterfaceModel, { name: 'a', nat_inside: true }),
        pool('p', '10.2.0.1'),
        identities('i', { ip_address: '10.2.0.1' }),
      ];
      await apply(...waiting);
      assert.equal(agent.pending.length, 3);
      await put(nat);
      assert.deepEqual(agent.pending, []);
      await agent.update(new Map([[nat.key, null]]));
      assert.equal(agent.pending.length, 3);
      await agent.assertSettled();
    });

    test('one that is enabled already is taken over, with its forwarding set', async () => {
      const enable = (isOn: boolean) =>
        client.request('nat44_ed_plugin_enable_disable', {
          inside_vrf: 0,
          outside_vrf: 0,
          sessions: 1024,
          session_memory: 0,
          enable: isOn,
          flags: 0,
        });
      await enable(true);
      await put(nat);
      const config = await client.request('nat44_show_running_config', {});
      assert.equal(config.forwarding_enabled, true);
      // somebody disables it: that is what deleting is for
      await enable(false);
      await agent.update(new Map([[nat.key, null]]));
    });

    test('a feature goes before another one comes that VPP has not beside it', async () => {
      const on = (features: object) => keyed(nat44InterfaceModel, { name: 'a', ...features });
      await apply(nat, loop('a'), on({ nat_inside: true, nat_outside: true }));
      await put(on({ output_feature: true }));
      assert.deepEqual(taken(), [
        'nat44_interface_add_del_feature',
        'nat44_interface_add_del_feature',
        'nat44_ed_add_del_output_interface',
      ]);
      await put(on({ nat_outside: true }));
      assert.deepEqual(taken(), [
        'nat44_ed_add_del_output_interface',
        'nat44_interface_add_del_feature',
      ]);
      await agent.assertSettled();
    });

    test('a feature moves from the global list to a value of its own, and back', async () => {
      const listed = keyed(nat44GlobalModel, {
        nat_interfaces: [{ name: 'a', output_feature: true }],
        address_pool: [{ address: '10.2.0.1', vrf_id: all }],
      });
      const plain = keyed(nat44GlobalModel, {});
      const own = keyed(nat44InterfaceModel, { name: 'a', nat_inside: true });
      const address = pool('p', '10.2.0.1');
      await apply(loop('a'), listed);
      await put(plain, own, address);
      await agent.assertSettled();
      assert.deepEqual(await addresses(), ['10.2.0.1 0']);
      await agent.update(
        new Map([
          [own.key, null],
          [address.key, null],
          [listed.key, listed.value],
        ]),
      );
      await agent.assertSettled();
    });

    test('one more interface is one more message', async () => {
      const inside = (name: string) => keyed(nat44InterfaceModel, { name, nat_inside: true });
      await apply(nat, loop('a'), loop('b'), inside('a'));
      await put(inside('b'));
      assert.deepEqual(taken(), ['nat44_interface_add_del_feature']);
    });

    test('addresses move from one pool to another in one transaction', async () => {
      await apply(nat, pool('p', '10.2.0.1', '10.2.0.4'), pool('q', '10.2.0.7'));
      await put(pool('p', '10.2.0.7'), pool('q', '10.2.0.3', '10.2.0.6'));
      assert.deepEqual(agent.pending, []);
      await agent.assertSettled();
      assert.deepEqual(await addresses(), [
        '10.2.0.3 0',
        '10.2.0.4 0',
        '10.2.0.5 0',
        '10.2.0.6 0',
        '10.2.0.7 0',
      ]);
    });

    test('a pool that is there in part is completed, what is left of another one goes', async () => {
      await apply(nat, pool('p', '10.2.0.2', '10.2.0.3'), pool('q', '10.2.0.9', '', true));
      await restart(nat, pool('p', '10.2.0.1', '10.2.0.4'));
      await agent.assertSettled();
      assert.deepEqual(
        await addresses(),
        [1, 2, 3, 4].map((last) => `10.2.0.${last} 0`),
      );
    });

    test('a pool that VPP refuses in the middle leaves nothing of itself', async () => {
      await apply(nat);
      const theirs = {
        first_ip_address: bytesOfAddress('10.2.0.3'),
        last_ip_address: bytesOfAddress('10.2.0.3'),
        vrf_id: all,
        flags: 0,
      };
      await client.request('nat44_add_del_address_range', { ...theirs, is_add: true });
      await assert.rejects(put(pool('p', '10.2.0.1', '10.2.0.5')), /value exists/);
      assert.deepEqual(await addresses(), ['10.2.0.3 0']);
      await client.request('nat44_add_del_address_range', { ...theirs, is_add: false });
    });

    test('backends of a service come and go without the others noticing', async () => {
      const of = (...lasts: number[]) =>
        service('s', { ...web, local_ips: lasts.map((last) => backend(last)) });
      await apply(nat, table(1), of(2, 3));
      await put(of(2, 3, 4));
      assert.deepEqual(taken(), ['nat44_lb_static_mapping_add_del_local']);
      await put(of(3, 5));
      assert.deepEqual(taken(), Array(3).fill('nat44_lb_static_mapping_add_del_local'));
      assert.deepEqual(await balanced(), ['s: 3*1 5*1']);
      await put(of(5));
      assert.deepEqual(taken(), [
        'nat44_add_del_lb_static_mapping',
        'nat44_add_del_static_mapping_v2',
      ]);
      await agent.assertSettled();
    });

    test('with affinity a backend that goes takes the mapping along: clients are bound to it', async () => {
      const of = (...lasts: number[]) =>
        service('s', {
          ...web,
          session_affinity: 60,
          local_ips: lasts.map((last) => backend(last)),
        });
      await apply(nat, table(1), of(2, 3));
      await put(of(2, 3, 4));
      assert.deepEqual(taken(), ['nat44_lb_static_mapping_add_del_local']);
      await put(of(2, 4));
      assert.deepEqual(taken(), Array(2).fill('nat44_add_del_lb_static_mapping'));
      await agent.assertSettled();
    });

    test('one mapping of a service changes, the others are not touched', async () => {
      const other = { ...web, external_port: 81, local_ips: [backend(2)] };
      await apply(nat, table(1), service('s', { ...web, local_ips: [backend(2)] }, other));
      await put(service('s', { ...web, local_ips: [backend(3)] }, other));
      assert.deepEqual(taken(), Array(2).fill('nat44_add_del_static_mapping_v2'));
      await agent.assertSettled();
    });

    test('shares that do not fit a byte are scaled, without one all have the same', async () => {
      const many = Array.from({ length: 255 }, (_, n) => backend(n, 7));
      await apply(
        nat,
        table(1),
        service('great', {
          ...web,
          local_ips: [backend(2, 3000), backend(3, 1000), backend(4, 0)],
        }),
        service('many', { ...web, external_port: 81, local_ips: many }),
        service('none', { ...web, external_port: 82, local_ips: [backend(2, 0), backend(3, 0)] }),
      );
      const [great, all255, none] = await balanced();
      assert.equal(great, 'great: 2*190 3*64 4*0');
      assert.equal(none, 'none: 2*1 3*1');
      assert.equal(all255?.split(' ').filter((end) => end.endsWith('*1')).length, 255);
    });

    test('what VPP does not tell is noticed when it changed while no agent ran', async () => {
      const sticky = (session_affinity: number) =>
        service('s', { ...web, session_affinity, local_ips: [backend(2), backend(3)] });
      const twice = (twice_nat_pool_ip: string) =>
        service('t', {
          ...web,
          external_port: 81,
          twice_nat: 'ENABLED',
          twice_nat_pool_ip,
          local_ips: [backend(2)],
        });
      const rest = [nat, table(1), pool('p', '10.2.0.1', '10.2.0.2', true)];
      await apply(...rest, sticky(60), twice('10.2.0.1'));
      assert.deepEqual(await restart(...rest, sticky(60), twice('10.2.0.1')), []);
      assert.deepEqual(await restart(...rest, sticky(90), twice('10.2.0.2')), [
        'UPDATE config/vpp/nat/v2/dnat44/s',
        'UPDATE config/vpp/nat/v2/dnat44/t',
      ]);
      assert.deepEqual(await restart(...rest, sticky(0), twice('')), [
        'UPDATE config/vpp/nat/v2/dnat44/s',
        'UPDATE config/vpp/nat/v2/dnat44/t',
      ]);
      await agent.assertSettled();
    });

    for (const length of [63, 64, 127]) {
      test(`a label of ${length} characters is found again`, async () => {
        const label = `${'n'.repeat(length - 10)}/${'s'.repeat(9)}`;
        const long = (session_affinity: number) =>
          service(label, { ...web, session_affinity, local_ips: [backend(2), backend(3)] });
        const twin = service(`${label.slice(0, -1)}t`, {
          ...web,
          external_port: 81,
          local_ips: [backend(2)],
        });
        await apply(nat, table(1), long(60), twin);
        assert.deepEqual(await restart(nat, table(1), long(60), twin), []);
        // of those that nobody wants any more nobody knows the names
        await restart();
        assert.deepEqual(await balanced(), []);
      });
    }

    test('an external end moves from one service to another in one transaction', async () => {
      const to = (label: string, ...mappings: DeepInput<DNat44StaticMapping>[]) =>
        service(label, ...mappings);
      const one = { ...web, local_ips: [backend(2)] };
      const two = { ...web, external_port: 81, local_ips: [backend(2), backend(3)] };
      await apply(nat, table(1), to('a', one), to('b', two));
      await put(to('a', two), to('b', one));
      assert.deepEqual(agent.pending, []);
      await agent.assertSettled();
    });

    test('an external end goes from an identity to a service, and back', async () => {
      const mapping = service('s', { ...web, local_ips: [backend(2)] });
      const identity = identities('i', { ip_address: web.external_ip, port: 80, vrf_id: 1 });
      await apply(nat, table(1), identity);
      await agent.update(new Map([[identity.key, null], ...toMap([mapping])]));
      await agent.assertSettled();
      assert.equal((await client.dump('nat44_static_mapping_dump', {})).length, 1);
      await agent.update(new Map([[mapping.key, null], ...toMap([identity])]));
      await agent.assertSettled();
      assert.equal((await client.dump('nat44_identity_mapping_dump', {})).length, 1);
    });

    test('an identity of several tables is told with one tag, and found for each of its values', async () => {
      const first = identities('first', { ip_address: '10.2.0.1', port: 4789, protocol: 'UDP' });
      const second = identities('second', {
        ip_address: '10.2.0.1',
        port: 4789,
        protocol: 'UDP',
        vrf_id: 1,
      });
      await apply(nat, table(1), first);
      await put(second);
      const tags = async () =>
        (await client.dump('nat44_identity_mapping_dump', {})).map(({ tag }) => tag);
      assert.deepEqual(await tags(), ['first', 'first']);
      assert.deepEqual(await restart(nat, table(1), first, second), []);
      assert.deepEqual(await restart(nat, table(1), second), [
        'DELETE config/vpp/nat/v2/dnat44/first',
      ]);
      assert.deepEqual(await tags(), ['first']);
      await restart(nat, table(1));
      assert.deepEqual(await tags(), []);
    });

    test('mappings without a tag are others’ and stay', async () => {
      await apply(nat, table(1), service('s', { ...web, local_ips: [backend(2)] }));
      const theirs = {
        match_pool: false,
        flags: 4,
        pool_ip_address: new Uint8Array(4),
        local_ip_address: bytesOfAddress('10.1.1.2'),
        external_ip_address: bytesOfAddress('10.96.0.99'),
        protocol: 6,
        local_port: 80,
        external_port: 80,
        external_sw_if_index: all,
        vrf_id: 0,
        tag: '',
      };
      await client.request('nat44_add_del_static_mapping_v2', { ...theirs, is_add: true });
      await restart(nat);
      const found = await client.dump('nat44_static_mapping_dump', {});
      assert.deepEqual(
        found.map(({ external_ip_address }) => textOfBytes(external_ip_address)),
        ['10.96.0.99'],
      );
      await client.request('nat44_add_del_static_mapping_v2', { ...theirs, is_add: false });
    });

    /** Tags of what is bound to the interface with this tag. */
    const bound = async (iface: string) => {
      const fields = { sw_if_index: all, name_filter_valid: false, name_filter: '' };
      const interfaces = await client.dump('sw_interface_dump', fields);
      const index = interfaces.find(({ tag }) => tag === iface)?.sw_if_index ?? all;
      const acls = await client.dump('acl_dump', { acl_index: all });
      const tags = new Map(acls.map(({ acl_index, tag }) => [acl_index, tag]));
      const [list] = await client.dump('acl_interface_list_dump', { sw_if_index: index });
      const named = list?.acls.map((each) => tags.get(each)) ?? [];
      return { ingress: named.slice(0, list?.n_input), egress: named.slice(list?.n_input) };
    };

    test('many ACLs on one interface in one transaction, in the order of their names', async () => {
      const names = ['h', 'c', 'a', 'g', 'b', 'f', 'd', 'e'];
      const on = { ingress: ['a', 'b'], egress: ['a'] };
      await apply(loop('a'), loop('b'), ...names.map((name) => acl(name, on)));
      const sorted = names.toSorted();
      assert.deepEqual(await bound('a'), { ingress: sorted, egress: sorted });
      await agent.update(new Map([[acl('d').key, null], ...toMap([acl('e', { egress: ['a'] })])]));
      assert.deepEqual(await bound('a'), {
        ingress: sorted.filter((name) => !['d', 'e'].includes(name)),
        egress: sorted.filter((name) => name !== 'd'),
      });
      await agent.assertSettled();
    });

    test('ACLs that somebody has put in another order are put back into theirs', async () => {
      const values = [loop('a'), ...['a', 'b', 'c'].map((name) => acl(name, { egress: ['a'] }))];
      await apply(...values);
      const lists = await client.dump('acl_interface_list_dump', { sw_if_index: all });
      const list = lists.find(({ acls }) => acls.length === 3);
      assert.ok(list);
      await client.request('acl_interface_set_acl_list', { ...list, acls: list.acls.toReversed() });
      await agent.repair();
      assert.deepEqual(await bound('a'), { ingress: [], egress: ['a', 'b', 'c'] });
      await agent.assertSettled();
    });

    test('the rules of an ACL that is bound change under its index, in one message', async () => {
      await apply(loop('a'), acl('x', { egress: ['a'] }));
      const [before] = await client.dump('acl_dump', { acl_index: all });
      const rules = [permit('10.9.0.0/16')];
      await put(keyed(aclModel, { name: 'x', rules, interfaces: { egress: ['a'] } }));
      assert.deepEqual(taken(), ['acl_add_replace']);
      const [now] = await client.dump('acl_dump', { acl_index: all });
      assert.equal(now?.acl_index, before?.acl_index);
      assert.equal(now?.r.length, 1);
    });

    test('ACLs of others stay where they are, before ours', async () => {
      const rule = {
        is_permit: 1,
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
      await apply(loop('a'), acl('x', { egress: ['a'] }));
      const theirs: number[] = [];
      for (const tag of ['', 'cli']) {
        const made = await client.request('acl_add_replace', { acl_index: all, tag, r: [rule] });
        theirs.push(made.acl_index);
      }
      const lists = await client.dump('acl_interface_list_dump', { sw_if_index: all });
      const ours = lists.find(({ acls }) => acls.length === 1);
      assert.ok(ours);
      const [first = 0, second = 0] = theirs;
      const acls = [...ours.acls, second, first];
      await client.request('acl_interface_set_acl_list', { ...ours, acls });
      await put(acl('w', { egress: ['a'] }));
      assert.deepEqual((await bound('a')).egress, ['cli', '', 'w', 'x']);
      await restart(loop('a'));
      assert.deepEqual((await bound('a')).egress, ['cli', '']);
      const left = await client.dump('acl_dump', { acl_index: all });
      assert.deepEqual(left.map(({ tag }) => tag).sort(), ['', 'cli']);
      await restart();
      for (const acl_index of theirs) await client.request('acl_del', { acl_index });
    });

    test('an ACL goes although somebody has bound it, and one with the tag of another too', async () => {
      const { sw_if_index } = await client.request('create_loopback', {
        mac_address: new Uint8Array(6),
      });
      await apply(acl('x'));
      const [made] = await client.dump('acl_dump', { acl_index: all });
      assert.ok(made);
      const { acl_index } = made;
      await client.request('acl_interface_add_del', { sw_if_index, acl_index, is_input: true });
      await client.request('acl_add_replace', { ...made, acl_index: all });
      await restart(acl('x'));
      assert.equal((await client.dump('acl_dump', { acl_index: all })).length, 1);
      await restart();
      assert.deepEqual(await client.dump('acl_dump', { acl_index: all }), []);
      await client.request('delete_loopback', { sw_if_index });
    });

    test('an STN rule moves to another interface in one transaction', async () => {
      const rule = (iface: string) =>
        keyed(stnRuleModel, { ip_address: '192.168.16.1', interface: iface });
      await apply(loop('a'), loop('b'), rule('a'));
      await agent.update(new Map([[rule('a').key, null], ...toMap([rule('b')])]));
      await agent.assertSettled();
      const rules = await client.dump('stn_rules_dump', {});
      assert.deepEqual(
        rules.map(({ ip_address }) => fromAddress(ip_address)),
        ['192.168.16.1'],
      );
    });

    test('a redirect moves to another interface, and of ALL one half is completed', async () => {
      const to = (tx_interface: string) =>
        keyed(ipRedirectModel, { l3_protocol: 'ALL', tx_interface });
      await apply(loop('a'), loop('b'), to('a'));
      await agent.update(new Map([[to('a').key, null], ...toMap([to('b')])]));
      await agent.assertSettled();
      const redirects = (af: number) =>
        client.dump('ip_punt_redirect_v2_dump', { sw_if_index: all, af });
      const punt = { rx_sw_if_index: all, af: 1, paths: [] };
      await client.request('add_del_ip_punt_redirect_v2', { is_add: false, punt });
      await agent.repair();
      assert.equal((await redirects(0)).length, 1);
      assert.equal((await redirects(1)).length, 1);
      await agent.assertSettled();
    });
  });
}
