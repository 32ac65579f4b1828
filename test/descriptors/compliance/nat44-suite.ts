/** NAT44 as a whole, its interfaces and its addresses. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { DeepInput } from '#models/model.ts';
import { type DNat44IdentityMapping, dnat44Model } from '#models/vpp/dnat44.ts';
import type { SessionSettings } from '#models/vpp/nat.gen.ts';
import { nat44AddressPoolModel } from '#models/vpp/nat44-address-pool.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { nat44InterfaceModel } from '#models/vpp/nat44-interface.ts';
import type { VppBackend } from '#test/vpp/descriptors/backends.ts';
import { bytesOfAddress, textOfBytes } from '#vpp/binapi/addresses.ts';
import { NatConfigFlags } from '#vpp/binapi/enums.gen.ts';
import { keyedValue, loop, table } from './example-values.ts';
import { RecordedAgent } from './recorded-agent.ts';
import { inputNodes } from './vpp-state.ts';

const ALL = 0xffff_ffff;

const nat = keyedValue(nat44GlobalModel, { forwarding: true });

const a = loop('a', { ip_addresses: ['10.71.5.1/24'] });
const b = loop('b', { ip_addresses: ['10.71.6.1/24'] });

function identities(label: string, ...id_mappings: DeepInput<DNat44IdentityMapping>[]): KeyedValue {
  return keyedValue(dnat44Model, { label, id_mappings });
}

function pool(name: string, first_ip: string, last_ip = '', twice_nat = false): KeyedValue {
  return keyedValue(nat44AddressPoolModel, { name, first_ip, last_ip, twice_nat, vrf_id: ALL });
}

export function nat44Suite(start: () => Promise<VppBackend>): void {
  describe('NAT44', () => {
    const bench = new RecordedAgent(start);

    const addresses = async (): Promise<readonly string[]> => {
      const found = await bench.client.dump('nat44_address_dump', {});
      return found.map(({ ip_address, flags }) => `${textOfBytes(ip_address)} ${flags}`).sort();
    };

    const indexOf = async (name: string): Promise<number> => {
      const named = { name_filter_valid: false, name_filter: '' };
      const found = await bench.client.dump('sw_interface_dump', { sw_if_index: ALL, ...named });
      return found.find(({ tag }) => tag === name)!.sw_if_index;
    };
    /** Nodes of NAT44 where packets enter by an interface. */
    const nodesOf = async (name: string): Promise<readonly string[]> => {
      const sw_if_index = await indexOf(name);
      const nodes = await inputNodes(bench.client, [{ sw_if_index }]);
      return nodes.map(({ feature_name }) => feature_name);
    };

    test('nothing of NAT44 is asked for before it is enabled, nor after', async () => {
      const waiting = [
        a,
        keyedValue(nat44InterfaceModel, { name: 'a', nat_inside: true }),
        pool('p', '10.2.0.1'),
        identities('i', { ip_address: '10.2.0.1' }),
      ];
      await bench.apply(...waiting);
      assert.equal(bench.agent.pending.length, 3);
      await bench.put(nat);
      assert.deepEqual(bench.agent.pending, []);
      await bench.agent.update(new Map([[nat.key, null]]));
      assert.equal(bench.agent.pending.length, 3);
      await bench.agent.assertSettled();
    });

    const enable = (isOn: boolean, sessions = 0) =>
      bench.client.request('nat44_ed_plugin_enable_disable', {
        inside_vrf: 0,
        outside_vrf: 0,
        sessions,
        session_memory: 0,
        enable: isOn,
        flags: 0,
      });
    const running = () => bench.client.request('nat44_show_running_config', {});
    const timeouts = { udp: 300, tcp_established: 7440, tcp_transitory: 240, icmp: 60 };

    for (const sessions of [0, 1024])
      test(`one that is enabled already is taken over, with ${sessions || 'the default of'} sessions`, async () => {
        await enable(true, sessions);
        await bench.client.request('nat_set_timeouts', { ...timeouts, udp: 1 });
        bench.taken();
        await bench.put(nat);
        const config = await running();
        assert.equal(config.forwarding_enabled, true);
        assert.equal(config.sessions, 63 * 1024);
        assert.deepEqual(config.timeouts, timeouts);
        // only the size of the table cannot be changed
        const switched = bench.taken().filter((name) => name.endsWith('enable_disable'));
        assert.equal(switched.length, sessions === 0 ? 2 : 4);
        // disabled externally
        await enable(false);
        await bench.agent.update(new Map([[nat.key, null]]));
      });

    test('timeouts change in place; for another table size all of NAT44 is created again', async () => {
      const set = (sessions: DeepInput<SessionSettings>) =>
        keyedValue(nat44GlobalModel, { forwarding: true, sessions });
      const identity = identities('i', { ip_address: '10.2.0.1' });
      await bench.apply(set({ max_sessions: 2048 }), identity);
      await bench.put(set({ max_sessions: 2048, udp_timeout: 30, tcp_established_timeout: 600 }));
      assert.deepEqual(bench.taken(), ['nat_set_timeouts']);
      assert.deepEqual((await running()).timeouts, { ...timeouts, udp: 30, tcp_established: 600 });
      await bench.put(set({ max_sessions: 4096, udp_timeout: 30 }));
      assert.deepEqual(bench.taken(), [
        'nat44_add_del_identity_mapping',
        'nat44_ed_plugin_enable_disable',
        'nat44_ed_plugin_enable_disable',
        'nat_set_timeouts',
        'nat44_forwarding_enable_disable',
        'nat44_add_del_identity_mapping',
      ]);
      assert.deepEqual((await running()).timeouts, { ...timeouts, udp: 30 });
      await bench.agent.assertSettled();
      await bench.put(set({}), keyedValue(nat44GlobalModel, { forwarding: true }));
      assert.equal((await running()).sessions, 63 * 1024);
    });

    test('NAT44 with an unmanaged mapping of several backends is created again without a crash', async () => {
      const set = (max_sessions: number) =>
        keyedValue(nat44GlobalModel, { forwarding: true, sessions: { max_sessions } });
      await bench.apply(set(2048));
      for (let port = 1; port <= 3; port++)
        await bench.client.request('nat44_add_del_lb_static_mapping', {
          is_add: true,
          flags: 4,
          external_addr: bytesOfAddress('10.96.0.99'),
          external_port: port,
          protocol: 6,
          affinity: 0,
          tag: '',
          locals: [2, 3].map((last) => ({
            addr: bytesOfAddress(`10.1.1.${last}`),
            port,
            probability: 1,
            vrf_id: 0,
          })),
        });
      await bench.put(set(4096));
      await bench.agent.assertSettled();
      assert.equal((await running()).sessions, 4096);
    });

    test('settings of sessions that VPP has already are left alone, others are corrected', async () => {
      const asked = { max_sessions: 2048, udp_timeout: 30, icmp_timeout: 60 };
      const global = keyedValue(nat44GlobalModel, { forwarding: true, sessions: asked });
      await bench.apply(global);
      assert.deepEqual(await bench.restart(global), []);
      await bench.client.request('nat_set_timeouts', { ...timeouts, udp: 31 });
      assert.deepEqual(await bench.restart(global), [`UPDATE ${global.key}`]);
      assert.deepEqual((await running()).timeouts, { ...timeouts, udp: 30 });
      await enable(false);
      await enable(true, 1024);
      await bench.restart(global);
      assert.equal((await running()).sessions, 2048);
      // an agent that desires the defaults
      await bench.restart(nat);
      assert.deepEqual((await running()).timeouts, timeouts);
      assert.deepEqual(await bench.restart(nat), []);
      await bench.agent.assertSettled();
    });

    test('limits of tables are set when the tables exist, read back and corrected', async () => {
      const limited = (max_sessions: number) =>
        keyedValue(nat44GlobalModel, {
          forwarding: true,
          sessions: {
            max_sessions: 2048,
            table_limits: [
              { vrf_id: 0, max_sessions },
              { vrf_id: 7, max_sessions: 2048 },
            ],
          },
        });
      const set = ['nat44_set_session_limit'];
      await bench.agent.resync(new Map([[limited(1900).key, limited(1900).value]]));
      // of the main table
      assert.equal(bench.taken().filter((name) => name === set[0]).length, 1);
      await bench.put(table(7));
      assert.deepEqual(bench.taken().slice(1), set);
      assert.deepEqual(await bench.restart(limited(1900), table(7)), []);
      await bench.put(limited(1800));
      assert.deepEqual(bench.taken(), set);
      await bench.client.request('nat44_set_session_limit', { vrf_id: 0, session_limit: 100 });
      assert.equal((await bench.restart(limited(1800), table(7))).length, 1);
      assert.deepEqual(bench.taken(), set);
      // NAT44 that was created again, by hand, has no limits
      await enable(false);
      await enable(true, 2048);
      await bench.restart(limited(1800), table(7));
      assert.equal(bench.taken().filter((name) => name === set[0]).length, 2);
      assert.deepEqual(await bench.restart(limited(1800), table(7)), []);
      await bench.agent.assertSettled();
    });

    test('a feature is disabled before an incompatible one is enabled', async () => {
      const on = (features: object) => keyedValue(nat44InterfaceModel, { name: 'a', ...features });
      await bench.apply(nat, a, on({ nat_inside: true, nat_outside: true }));
      await bench.put(on({ output_feature: true }));
      assert.deepEqual(bench.taken(), [
        'nat44_interface_add_del_feature',
        'nat44_interface_add_del_feature',
        'nat44_ed_add_del_output_interface',
      ]);
      await bench.put(on({ nat_outside: true }));
      assert.deepEqual(bench.taken(), [
        'nat44_ed_add_del_output_interface',
        'nat44_interface_add_del_feature',
      ]);
      await bench.agent.assertSettled();
    });

    test('an interface that changes its side always has one', async () => {
      const side = (features: object) =>
        keyedValue(nat44InterfaceModel, { name: 'a', ...features });
      await bench.apply(nat, a, side({ nat_inside: true }));
      const flags: number[] = [];
      bench.faulty.onChange = async (n) => {
        // before the second change
        if (n !== 2) return;
        for (const each of await bench.client.dump('nat44_interface_dump', {}))
          flags.push(each.flags);
      };
      bench.taken();
      await bench.put(side({ nat_outside: true }));
      bench.faulty.onChange = undefined;
      const { NAT_IS_INSIDE, NAT_IS_OUTSIDE } = NatConfigFlags;
      assert.deepEqual(flags, [NAT_IS_INSIDE | NAT_IS_OUTSIDE]);
      const [left] = await bench.client.dump('nat44_interface_dump', {});
      assert.equal(left?.flags, NAT_IS_OUTSIDE);
      await bench.agent.assertSettled();
    });

    const classifying = (name: string) =>
      keyedValue(nat44InterfaceModel, { name, nat_inside: true, classify: true });

    test('an interface that classifies is no outside one', async () => {
      await bench.apply(nat, a);
      await bench.put(classifying('a'));
      assert.deepEqual(bench.taken(), [
        'nat44_interface_add_del_feature',
        'feature_enable_disable',
        'feature_enable_disable',
      ]);
      const [side] = await bench.client.dump('nat44_interface_dump', {});
      assert.equal(side?.flags, NatConfigFlags.NAT_IS_INSIDE);
      assert.deepEqual(await bench.restart(nat, a, classifying('a')), []);
    });

    test('an interface is registered in the table that it stays in', async () => {
      const value = loop('a', { ip_addresses: ['10.71.5.1/24'], vrf: 1 });
      await bench.apply(nat, table(1), value, classifying('a'));
      const sent = () => bench.taken().filter((name) => /nat44_interface|set_table/.test(name));
      await bench.agent.update(new Map([[value.key, null]]));
      assert.deepEqual(sent(), ['nat44_interface_add_del_feature', 'sw_interface_set_table']);
      await bench.put(value);
      assert.deepEqual(sent(), ['sw_interface_set_table', 'nat44_interface_add_del_feature']);
    });

    test('an interface on both sides, of an earlier release, keeps its inside while it is changed to classify', async () => {
      const both = keyedValue(nat44InterfaceModel, {
        name: 'a',
        nat_inside: true,
        nat_outside: true,
      });
      await bench.apply(nat, a, both);
      const wanted = classifying('a');
      assert.deepEqual(await bench.restart(nat, a, wanted), [`UPDATE ${wanted.key}`]);
      assert.deepEqual(bench.taken(), [
        'nat44_interface_add_del_feature',
        'feature_enable_disable',
        'feature_enable_disable',
      ]);
      assert.deepEqual(await nodesOf('a'), ['nat44-ed-classify']);
      assert.deepEqual(await bench.restart(nat, a, wanted), []);
    });

    test('no classifier is left where NAT44 is disabled, also not an unmanaged one', async () => {
      const set = (max_sessions: number) =>
        keyedValue(nat44GlobalModel, { forwarding: true, sessions: { max_sessions } });
      await bench.apply(set(2048), a, b, classifying('a'));
      const sw_if_index = await indexOf('b');
      await bench.client.request('nat44_interface_add_del_feature', {
        is_add: true,
        flags: NatConfigFlags.NAT_IS_INSIDE,
        sw_if_index,
      });
      await bench.client.request('feature_enable_disable', {
        sw_if_index,
        enable: true,
        arc_name: 'ip4-unicast',
        feature_name: 'nat44-ed-classify',
      });
      await bench.put(set(4096));
      assert.deepEqual(await nodesOf('a'), ['nat44-ed-classify']);
      assert.deepEqual(await nodesOf('b'), []);
      await bench.agent.assertSettled();
    });

    test('a feature moves from the global list to a value of its own, and back', async () => {
      const listed = keyedValue(nat44GlobalModel, {
        nat_interfaces: [{ name: 'a', output_feature: true }],
        address_pool: [{ address: '10.2.0.1', vrf_id: ALL }],
      });
      const plain = keyedValue(nat44GlobalModel, {});
      const own = keyedValue(nat44InterfaceModel, { name: 'a', nat_inside: true });
      const address = pool('p', '10.2.0.1');
      await bench.apply(a, listed);
      await bench.put(plain, own, address);
      await bench.agent.assertSettled();
      assert.deepEqual(await addresses(), ['10.2.0.1 0']);
      await bench.agent.update(
        new Map([
          [own.key, null],
          [address.key, null],
          [listed.key, listed.value],
        ]),
      );
      await bench.agent.assertSettled();
    });

    test('one more interface is one more message', async () => {
      const inside = (name: string) => keyedValue(nat44InterfaceModel, { name, nat_inside: true });
      await bench.apply(nat, a, b, inside('a'));
      await bench.put(inside('b'));
      assert.deepEqual(bench.taken(), ['nat44_interface_add_del_feature']);
    });

    test('addresses move from one pool to another in one transaction', async () => {
      await bench.apply(nat, pool('p', '10.2.0.1', '10.2.0.4'), pool('q', '10.2.0.7'));
      await bench.put(pool('p', '10.2.0.7'), pool('q', '10.2.0.3', '10.2.0.6'));
      assert.deepEqual(bench.agent.pending, []);
      await bench.agent.assertSettled();
      assert.deepEqual(await addresses(), [
        '10.2.0.3 0',
        '10.2.0.4 0',
        '10.2.0.5 0',
        '10.2.0.6 0',
        '10.2.0.7 0',
      ]);
    });

    test('a partial pool is completed, the rest of another one is deleted', async () => {
      await bench.apply(nat, pool('p', '10.2.0.2', '10.2.0.3'), pool('q', '10.2.0.9', '', true));
      await bench.restart(nat, pool('p', '10.2.0.1', '10.2.0.4'));
      await bench.agent.assertSettled();
      assert.deepEqual(
        await addresses(),
        [1, 2, 3, 4].map((last) => `10.2.0.${last} 0`),
      );
    });

    test('a pool that VPP refuses in the middle leaves nothing of itself', async () => {
      await bench.apply(nat);
      const theirs = {
        first_ip_address: bytesOfAddress('10.2.0.3'),
        last_ip_address: bytesOfAddress('10.2.0.3'),
        vrf_id: ALL,
        flags: 0,
      };
      await bench.client.request('nat44_add_del_address_range', { ...theirs, is_add: true });
      await assert.rejects(bench.put(pool('p', '10.2.0.1', '10.2.0.5')), /value exists/);
      assert.deepEqual(await addresses(), ['10.2.0.3 0']);
      await bench.client.request('nat44_add_del_address_range', { ...theirs, is_add: false });
    });
  });
}
