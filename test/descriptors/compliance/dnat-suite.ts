/** Services and identities of NAT44. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { DeepInput } from '#models/model.ts';
import {
  type DNat44IdentityMapping,
  type DNat44StaticMapping,
  dnat44Model,
} from '#models/vpp/dnat44.ts';
import { nat44AddressPoolModel } from '#models/vpp/nat44-address-pool.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import type { VppBackend } from '#test/vpp/descriptors/backends.ts';
import { bytesOfAddress, textOfBytes } from '#vpp/binapi/addresses.ts';
import { NatConfigFlags } from '#vpp/binapi/enums.gen.ts';
import { keyedValue, table } from './example-values.ts';
import { RecordedAgent, toMap } from './recorded-agent.ts';

const ALL = 0xffff_ffff;

const nat = keyedValue(nat44GlobalModel, { forwarding: true });

const web = { external_ip: '10.96.0.10', external_port: 80 } as const;

const backend = (last: number, probability = 1) => ({
  vrf_id: 1,
  local_ip: `10.1.1.${last}`,
  local_port: 8080,
  probability,
});

function service(label: string, ...st_mappings: DeepInput<DNat44StaticMapping>[]): KeyedValue {
  return keyedValue(dnat44Model, { label, st_mappings });
}

function identities(label: string, ...id_mappings: DeepInput<DNat44IdentityMapping>[]): KeyedValue {
  return keyedValue(dnat44Model, { label, id_mappings });
}

function pool(name: string, first_ip: string, last_ip = '', twice_nat = false): KeyedValue {
  return keyedValue(nat44AddressPoolModel, { name, first_ip, last_ip, twice_nat, vrf_id: ALL });
}

export function dnatSuite(start: () => Promise<VppBackend>): void {
  describe('services', () => {
    const bench = new RecordedAgent(start);

    const balanced = async (): Promise<readonly string[]> => {
      const found = await bench.client.dump('nat44_lb_static_mapping_dump', {});
      return found
        .map(({ tag, locals }) => {
          const ends = locals.map(({ addr, probability }) => `${addr[3]}*${probability}`).sort();
          return `${tag}: ${ends.join(' ')}`;
        })
        .sort();
    };

    test('unchanged services are read back without new values for them', async (t) => {
      const backends = [backend(2), backend(3, 2)];
      const values = [
        service('one', { ...web, local_ips: [backend(2)] }),
        service('several', { ...web, external_port: 81, local_ips: backends }),
        service('affine', { ...web, external_port: 82, session_affinity: 9, local_ips: backends }),
      ];
      await bench.apply(nat, table(1), ...values);
      const made = t.mock.method(dnat44Model, 'canonical');
      assert.deepEqual(await bench.restart(nat, table(1), ...values), []);
      assert.equal(made.mock.callCount(), 0);
    });

    test('backends of a service come and go without the others noticing', async () => {
      const of = (...lasts: number[]) =>
        service('s', { ...web, local_ips: lasts.map((last) => backend(last)) });
      await bench.apply(nat, table(1), of(2, 3));
      await bench.put(of(2, 3, 4));
      assert.deepEqual(bench.taken(), ['nat44_lb_static_mapping_add_del_local']);
      await bench.put(of(3, 5));
      assert.deepEqual(bench.taken(), Array(3).fill('nat44_lb_static_mapping_add_del_local'));
      assert.deepEqual(await balanced(), ['s: 3*1 5*1']);
      await bench.put(of(5));
      assert.deepEqual(bench.taken(), [
        'nat44_add_del_lb_static_mapping',
        'nat44_add_del_static_mapping_v2',
      ]);
      await bench.agent.assertSettled();
    });

    test('a change of one share, or of one of two backends, does not touch the others', async () => {
      const local = 'nat44_lb_static_mapping_add_del_local';
      const of = (...ends: [number, number][]) =>
        service('s', { ...web, local_ips: ends.map(([last, share]) => backend(last, share)) });
      await bench.apply(nat, table(1), of([2, 1], [3, 1], [4, 1]));
      await bench.put(of([2, 1], [3, 5], [4, 1]));
      assert.deepEqual(bench.taken(), Array(2).fill(local));
      assert.deepEqual(await balanced(), ['s: 2*1 3*5 4*1']);
      await bench.put(of([2, 1], [4, 1]));
      bench.taken();
      // VPP refuses to remove one of two: another one without a share is there meanwhile
      await bench.put(of([2, 1], [4, 7]));
      assert.deepEqual(bench.taken(), Array(4).fill(local));
      assert.deepEqual(await balanced(), ['s: 2*1 4*7']);
      await bench.put(of([2, 3], [4, 2]));
      assert.deepEqual(bench.taken(), Array(2).fill('nat44_add_del_lb_static_mapping'));
      await bench.agent.assertSettled();
    });

    test('beside a backend without a share, one becomes two and then one again in place', async () => {
      const local = 'nat44_lb_static_mapping_add_del_local';
      const of = (session_affinity: number, ...lasts: number[]) =>
        service('s', {
          ...web,
          session_affinity,
          local_ips: [
            { local_ip: '0.0.0.0', local_port: 1 },
            ...lasts.map((last) => backend(last, 2)),
          ],
        });
      await bench.apply(nat, table(1), of(0, 2));
      assert.deepEqual(await balanced(), ['s: 0*0 2*2']);
      await bench.put(of(0, 2, 3));
      await bench.put(of(0, 3));
      await bench.put(of(0, 4));
      assert.deepEqual(bench.taken().slice(-4), Array(4).fill(local));
      assert.deepEqual(await balanced(), ['s: 0*0 4*2']);
      assert.deepEqual(await bench.restart(nat, table(1), of(0, 4)), []);
      await bench.put(of(60, 4));
      bench.taken();
      await bench.put(of(60, 4, 5));
      assert.deepEqual(bench.taken(), [local]);
      await bench.agent.assertSettled();
    });

    test('with affinity, a backend is removed in place only if another takes its position', async () => {
      const local = 'nat44_lb_static_mapping_add_del_local';
      const of = (...lasts: number[]) =>
        service('s', {
          ...web,
          session_affinity: 60,
          local_ips: lasts.map((last) => backend(last)),
        });
      await bench.apply(nat, table(1), of(2, 3));
      await bench.put(of(2, 3, 4));
      assert.deepEqual(bench.taken(), [local]);
      await bench.put(of(2, 5, 4));
      assert.deepEqual(bench.taken(), [local, local]);
      assert.deepEqual(await balanced(), ['s @60: 2*1 4*1 5*1']);
      // nothing leads the clients that are bound to the removed one elsewhere
      await bench.put(of(2, 4));
      assert.deepEqual(bench.taken(), Array(2).fill('nat44_add_del_lb_static_mapping'));
      await bench.agent.assertSettled();
    });

    test('one mapping of a service changes, the others are not touched', async () => {
      const other = { ...web, external_port: 81, local_ips: [backend(2)] };
      await bench.apply(nat, table(1), service('s', { ...web, local_ips: [backend(2)] }, other));
      await bench.put(service('s', { ...web, local_ips: [backend(3)] }, other));
      assert.deepEqual(bench.taken(), Array(2).fill('nat44_add_del_static_mapping_v2'));
      await bench.agent.assertSettled();
    });

    test('shares that do not fit a byte are scaled, without one all have the same', async () => {
      const many = Array.from({ length: 255 }, (_, n) => backend(n, 7));
      await bench.apply(
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

    test('a change of hidden fields while no agent was running is detected', async () => {
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
      await bench.apply(...rest, sticky(60), twice('10.2.0.1'));
      assert.deepEqual(await bench.restart(...rest, sticky(60), twice('10.2.0.1')), []);
      assert.deepEqual(await bench.restart(...rest, sticky(90), twice('10.2.0.2')), [
        'UPDATE config/vpp/nat/v2/dnat44/s',
        'UPDATE config/vpp/nat/v2/dnat44/t',
      ]);
      assert.deepEqual(await bench.restart(...rest, sticky(0), twice('')), [
        'UPDATE config/vpp/nat/v2/dnat44/s',
        'UPDATE config/vpp/nat/v2/dnat44/t',
      ]);
      await bench.agent.assertSettled();
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
        await bench.apply(nat, table(1), long(60), twin);
        assert.deepEqual(await bench.restart(nat, table(1), long(60), twin), []);
        // the names of orphans are unknown
        await bench.restart();
        assert.deepEqual(await balanced(), []);
      });
    }

    test('an external end moves from one service to another in one transaction', async () => {
      const to = (label: string, ...mappings: DeepInput<DNat44StaticMapping>[]) =>
        service(label, ...mappings);
      const one = { ...web, local_ips: [backend(2)] };
      const two = { ...web, external_port: 81, local_ips: [backend(2), backend(3)] };
      await bench.apply(nat, table(1), to('a', one), to('b', two));
      await bench.put(to('a', two), to('b', one));
      assert.deepEqual(bench.agent.pending, []);
      await bench.agent.assertSettled();
    });

    test('an external end is reassigned from an identity to a service, and back', async () => {
      const mapping = service('s', { ...web, local_ips: [backend(2)] });
      const identity = identities('i', { ip_address: web.external_ip, port: 80, vrf_id: 1 });
      await bench.apply(nat, table(1), identity);
      await bench.agent.update(new Map([[identity.key, null], ...toMap([mapping])]));
      await bench.agent.assertSettled();
      assert.equal((await bench.client.dump('nat44_static_mapping_dump', {})).length, 1);
      await bench.agent.update(new Map([[mapping.key, null], ...toMap([identity])]));
      await bench.agent.assertSettled();
      assert.equal((await bench.client.dump('nat44_identity_mapping_dump', {})).length, 1);
    });

    test('an identity that requires a pool is there only while the pool has its address', async () => {
      const address = '203.0.113.7';
      const values = [
        pool('p', address),
        identities('i', { ip_address: address, vrf_id: 1, requires_pool: true }),
        service('s', {
          ...web,
          external_ip: address,
          session_affinity: 9,
          local_ips: [backend(2), backend(3)],
        }),
      ];
      const ofNat = () => bench.taken().filter((name) => name.startsWith('nat44_add_del'));
      await bench.apply(nat, table(1));
      await bench.put(...values);
      const created = ofNat();
      assert.ok(
        created.indexOf('nat44_add_del_address_range') <
          created.indexOf('nat44_add_del_identity_mapping'),
        created.join(),
      );
      assert.deepEqual(await bench.restart(nat, table(1), ...values), []);
      await bench.agent.update(new Map([[values[0]!.key, null]]));
      assert.deepEqual(ofNat(), ['nat44_add_del_identity_mapping', 'nat44_add_del_address_range']);
      await bench.put(values[0]!);
      bench.taken();
      // another agent, to which the values are orphans
      await bench.restart(nat, table(1));
      const deleted = ofNat();
      assert.ok(
        deleted.indexOf('nat44_add_del_identity_mapping') <
          deleted.indexOf('nat44_add_del_address_range'),
        deleted.join(),
      );
    });

    test('mappings that the original agent has left are adopted, changed or removed', async () => {
      const { client } = bench;
      const bytes = bytesOfAddress;
      await bench.apply(nat, table(1), pool('p', '203.0.113.7'));
      const plain = (tag: string, external: string, local: string) =>
        client.request('nat44_add_del_static_mapping_v2', {
          is_add: true,
          match_pool: false,
          // out2in-only and self twice-NAT, as the original sets them
          flags: NatConfigFlags.NAT_IS_OUT2IN_ONLY | NatConfigFlags.NAT_IS_SELF_TWICE_NAT,
          pool_ip_address: new Uint8Array(4),
          local_ip_address: bytes(local),
          external_ip_address: bytes(external),
          protocol: 6,
          local_port: 8080,
          external_port: 80,
          external_sw_if_index: ALL,
          vrf_id: 1,
          tag,
        });
      await plain('default/web', '10.96.0.10', '10.1.1.2');
      await plain('default/gone', '10.96.0.11', '10.1.1.3');
      await client.request('nat44_add_del_lb_static_mapping', {
        is_add: true,
        flags: NatConfigFlags.NAT_IS_OUT2IN_ONLY | NatConfigFlags.NAT_IS_SELF_TWICE_NAT,
        external_addr: bytes('10.96.0.12'),
        external_port: 80,
        protocol: 6,
        affinity: 10_800,
        tag: 'default/api',
        locals: [2, 3, 4].map((last) => ({
          addr: bytes(`10.1.1.${last}`),
          port: 8080,
          probability: 1,
          vrf_id: 1,
        })),
      });
      for (const vrf_id of [0, 1])
        await client.request('nat44_add_del_identity_mapping', {
          is_add: true,
          flags: NatConfigFlags.NAT_IS_ADDR_ONLY,
          ip_address: bytes('203.0.113.7'),
          protocol: 0,
          port: 0,
          sw_if_index: ALL,
          vrf_id,
          tag: 'DNAT-identities',
        });
      const filler = { local_ip: '0.0.0.0', local_port: 1, probability: 0 };
      const desired = [
        ...[nat, table(1), pool('p', '203.0.113.7')],
        service('default/web', {
          ...web,
          twice_nat: 'SELF',
          local_ips: [backend(2, 2), filler],
        }),
        service('default/api', {
          ...{ external_ip: '10.96.0.12', external_port: 80, twice_nat: 'SELF' },
          local_ips: [backend(2, 2), backend(3, 2), backend(4, 2)],
        }),
        identities(
          'DNAT-identities/203.0.113.7',
          ...[0, 1].map((vrf_id) => ({ ip_address: '203.0.113.7', vrf_id, requires_pool: true })),
        ),
      ];
      await bench.restart(...desired);
      assert.equal((await client.dump('nat44_static_mapping_dump', {})).length, 0);
      assert.deepEqual(await balanced(), ['default/api: 2*2 3*2 4*2', 'default/web: 0*0 2*2']);
      assert.equal((await client.dump('nat44_identity_mapping_dump', {})).length, 2);
      assert.deepEqual(await bench.restart(...desired), []);
    });

    test('an identity of several tables has one tag in VPP, and is found for each of its values', async () => {
      const first = identities('first', { ip_address: '10.2.0.1', port: 4789, protocol: 'UDP' });
      const second = identities('second', {
        ip_address: '10.2.0.1',
        port: 4789,
        protocol: 'UDP',
        vrf_id: 1,
      });
      await bench.apply(nat, table(1), first);
      await bench.put(second);
      const tags = async () =>
        (await bench.client.dump('nat44_identity_mapping_dump', {})).map(({ tag }) => tag);
      assert.deepEqual(await tags(), ['first', 'first']);
      assert.deepEqual(await bench.restart(nat, table(1), first, second), []);
      assert.deepEqual(await bench.restart(nat, table(1), second), [
        'DELETE config/vpp/nat/v2/dnat44/first',
      ]);
      assert.deepEqual(await tags(), ['first']);
      await bench.restart(nat, table(1));
      assert.deepEqual(await tags(), []);
    });

    test('mappings without a tag are others’ and stay', async () => {
      await bench.apply(nat, table(1), service('s', { ...web, local_ips: [backend(2)] }));
      const theirs = {
        match_pool: false,
        flags: 4,
        pool_ip_address: new Uint8Array(4),
        local_ip_address: bytesOfAddress('10.1.1.2'),
        external_ip_address: bytesOfAddress('10.96.0.99'),
        protocol: 6,
        local_port: 80,
        external_port: 80,
        external_sw_if_index: ALL,
        vrf_id: 0,
        tag: '',
      };
      await bench.client.request('nat44_add_del_static_mapping_v2', { ...theirs, is_add: true });
      await bench.restart(nat);
      const found = await bench.client.dump('nat44_static_mapping_dump', {});
      assert.deepEqual(
        found.map(({ external_ip_address }) => textOfBytes(external_ip_address)),
        ['10.96.0.99'],
      );
      await bench.client.request('nat44_add_del_static_mapping_v2', { ...theirs, is_add: false });
    });
  });
}
