/** Routes that VPP does not return, because an address of an interface determines their destinations. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { DeepInput } from '#models/model.ts';
import { type VppRoute, vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { keyedValue, loop } from './example-values.ts';
import { entries, type SharedVpp, SharedVppAgent } from './shared-vpp-agent.ts';
import { vppState } from './vpp-state.ts';

const out = loop('out', { enabled: true, ip_addresses: ['10.2.2.2/24', 'fd02::2/64'] });
const tables = (['IPV4', 'IPV6'] as const).map((protocol) =>
  keyedValue(vrfTableModel, { id: 1, protocol, label: `table-${protocol}` }),
);

function route(dst_network: string, more: DeepInput<VppRoute> = {}): KeyedValue {
  const next_hop_addr = dst_network.includes(':') ? 'fd02::9' : '10.2.2.9';
  return keyedValue(vppRouteModel, {
    dst_network,
    next_hop_addr,
    outgoing_interface: 'out',
    ...more,
  });
}

const routes = [
  route('10.1.1.0/24'),
  route('10.1.1.0/24', { next_hop_addr: '10.2.2.8', preference: 1 }),
  route('10.1.1.1/32'),
  route('10.1.1.255/32', { type: 'DROP', next_hop_addr: '', outgoing_interface: '' }),
  route('10.1.1.0/24', { vrf_id: 1 }),
  route('fd01::/64'),
  route('fd01::/64', { vrf_id: 1 }),
];
const keys = routes.map(({ key }) => key).sort();

/** An interface in each table, whose addresses hide the routes. */
function hiding(isNumbered: boolean): readonly KeyedValue[] {
  const ip_addresses = isNumbered ? ['10.1.1.1/24', 'fd01::1/64'] : [];
  return [0, 1].map((vrf) => loop(`in-${vrf}`, { vrf, enabled: true, ip_addresses }));
}

export function hiddenRouteSuite(start: () => Promise<SharedVpp>): void {
  describe('routes behind the addresses of interfaces', () => {
    const owner = new SharedVppAgent(start);
    const all = (isHidden: boolean) => entries([...tables, out, ...hiding(isHidden), ...routes]);
    const withoutRoutes = entries([...tables, out, ...hiding(true)]);

    /** Keys of the routes that a resync with the same values creates or changes. */
    const changedByResync = async (isHidden = true): Promise<string[]> => {
      const operations = await owner.commit('full-resync', all(isHidden));
      return operations.map(({ key }) => key).sort();
    };

    test('no resync adds them again', async () => {
      await owner.commit('full-resync', all(true));
      assert.deepEqual(await changedByResync(), []);
      const state = await vppState(owner.client);
      assert.deepEqual(await changedByResync(), []);
      assert.deepEqual(await vppState(owner.client), state);
    });

    test('they are in effect when the addresses are deleted, and hidden again later', async () => {
      await owner.commit('update', all(true));
      for (const isHidden of [false, true, false]) {
        await owner.commit('update', entries(hiding(isHidden)));
        assert.deepEqual(await changedByResync(isHidden), []);
      }
      await owner.assertReadsBack(routes);
    });

    test('they are deleted while they are hidden, and do not come back', async () => {
      await owner.commit('update', withoutRoutes);
      const before = await vppState(owner.client);
      await owner.commit('update', entries(routes));
      await owner.commit('full-resync', all(true));
      await owner.commit(
        'update',
        routes.map(({ key }) => [key, null]),
      );
      assert.deepEqual(await vppState(owner.client), before);
      await owner.commit('update', entries(hiding(false)));
      await owner.commit('update', entries(hiding(true)));
      assert.deepEqual(await vppState(owner.client), before);
    });

    test('an agent that starts adds them once: it does not know whether they exist', async () => {
      await owner.commit('update', withoutRoutes);
      await owner.restart();
      assert.deepEqual(await changedByResync(), keys);
      assert.deepEqual(await changedByResync(), []);
    });

    test('those through an interface that VPP has lost are created with it', async () => {
      await owner.commit('update', all(true));
      const asked = { sw_if_index: 0xffff_ffff, name_filter_valid: false, name_filter: '' };
      const interfaces = await owner.client.dump('sw_interface_dump', asked);
      const { sw_if_index } = interfaces.find(({ tag }) => tag === 'out')!;
      await owner.client.request('delete_loopback', { sw_if_index });
      const created = await changedByResync();
      assert.ok(created.includes(out.key));
      assert.deepEqual(await changedByResync(), []);
    });

    test('a route that is lost is added again when its destination is free', async () => {
      await owner.commit('update', all(false));
      const sources = await owner.client.dump('fib_source_dump', {});
      const src = sources.find((each) => each.src.name === 'API')!.src.id;
      const table = { table_id: 0, is_ip6: false, name: '' };
      const dumped = await owner.client.dump('ip_route_v2_dump', { src, table });
      for (const { route: found } of dumped) {
        const request = { is_add: false, is_multipath: false, route: found };
        await owner.client.request('ip_route_add_del_v2', request);
      }
      const lost = routes.filter(({ key }) => /route\/(if\/out\/)?vrf\/0\/dst\/10/.test(key));
      assert.deepEqual(await changedByResync(false), lost.map(({ key }) => key).sort());
      assert.deepEqual(await changedByResync(false), []);
    });
  });
}
