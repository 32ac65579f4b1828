/** Leases and links, reported by events and by read-back. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { interfaceAddressKey, linkStateKey, unnumberedKey } from '#models/vpp/derived.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import type { DHCPLease } from '#models/vpp/interface-state.ts';
import { fromPrefix } from '#vpp/binapi/addresses.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { vppPort } from '#vpp/vpp-port.ts';
import { startWatchingAgent, type WatchedVpp, type WatchingAgent } from './watching-agent.ts';

export interface Offer {
  /** With mask length, in 192.168.77.0/24. */
  readonly address: string;
  readonly router?: string;
}

/** At the other end of the first link is a server. */
export interface DhcpBackend extends WatchedVpp {
  /** The lease that the server offers from now on; undefined: it withdraws leases. */
  offer(offer: Offer | undefined): void;
  stop(): Promise<void>;
}

async function addressesOf(client: VppClient, tag: string): Promise<readonly string[]> {
  const found = (await vppPort(client).interfaces()).find((each) => each.tag === tag);
  const sw_if_index = found?.swIfIndex ?? 0;
  const dumped = await client.dump('ip_address_dump', { sw_if_index, is_ipv6: false });
  return dumped.map(({ prefix }) => fromPrefix(prefix));
}

export function dhcpSuite(start: () => Promise<DhcpBackend>): void {
  describe('leases and links', () => {
    let backend: DhcpBackend;
    let agent: WatchingAgent;
    let desired: KeyedValue[];

    const iface = (input: Parameters<typeof vppInterfaceModel.canonical>[0]): KeyedValue => {
      const value = vppInterfaceModel.canonical(input);
      return { key: vppInterfaceModel.key(value), value };
    };
    const main = (set_dhcp_client: boolean) =>
      iface({
        name: 'main',
        type: 'AF_PACKET',
        enabled: true,
        set_dhcp_client,
        afpacket: { host_if_name: backend.links[0] },
      });
    const borrower = () =>
      iface({
        name: 'borrower',
        type: 'SOFTWARE_LOOPBACK',
        enabled: true,
        unnumbered: { interface_with_ip: 'main' },
      });
    const addressKey = (address: string) =>
      interfaceAddressKey.build({ iface: 'main', source: 'from_dhcp', address });
    const lease = () => agent.scheduler.metadataMap<DHCPLease>('vpp-dhcp-lease')?.getValue('main');
    const leased = (address: string) =>
      agent.until(`lease of ${address}`, () => lease()?.host_ip_address === address);

    before(async () => {
      backend = await start();
      agent = await startWatchingAgent(backend);
      desired = [main(true), borrower()];
    });
    after(async () => {
      await agent?.commit('full-resync', []);
      await agent?.stop();
      await backend?.stop();
    });

    test('without a lease, values that depend on the address are pending', async () => {
      await agent.commit('full-resync', desired);
      const up = linkStateKey.build({ iface: 'main', state: 'UP' });
      await agent.until('link is up', () => agent.state(up) === 'OBTAINED');
      assert.equal(lease(), undefined);
      assert.equal(agent.state(unnumberedKey.build({ iface: 'borrower' })), 'PENDING');
    });

    test('a lease brings its address, and dependent values are created', async () => {
      backend.offer({ address: '192.168.77.5/24', router: '192.168.77.1' });
      await leased('192.168.77.5/24');
      const { interface_name, is_ipv6, router_ip_address } = lease() as DHCPLease;
      assert.deepEqual(
        { interface_name, is_ipv6, router_ip_address },
        { interface_name: 'main', is_ipv6: false, router_ip_address: '192.168.77.1/24' },
      );
      await agent.until(
        'its address',
        () => agent.state(addressKey('192.168.77.5/24')) === 'OBTAINED',
      );
      const borrows = unnumberedKey.build({ iface: 'borrower' });
      await agent.until('borrowed', () => agent.state(borrows) === 'CONFIGURED');
      const lent = await agent.client.dump('ip_unnumbered_dump', { sw_if_index: 0xffff_ffff });
      assert.equal(lent.length, 1);
    });

    test('a resync does nothing, and does not treat the address as configured', async () => {
      assert.deepEqual(await agent.commit('full-resync', desired), []);
      assert.deepEqual(await addressesOf(agent.client, 'main'), ['192.168.77.5/24']);
      assert.equal(lease()?.host_ip_address, '192.168.77.5/24');
    });

    test('another lease takes the place of the first', async () => {
      backend.offer({ address: '192.168.77.9/24' });
      await leased('192.168.77.9/24');
      assert.equal(lease()?.router_ip_address, '192.168.77.1/24', 'VPP keeps the last one');
      // The lease is visible before the transaction ends.
      const states = () => [5, 9].map((host) => agent.state(addressKey(`192.168.77.${host}/24`)));
      await agent.until('one address', () => states().join() === 'NONEXISTENT,OBTAINED');
    });

    test('the next agent finds the lease at once, and its change by asking', async () => {
      await agent.stop();
      agent = await startWatchingAgent(backend);
      assert.deepEqual(await agent.commit('full-resync', desired), []);
      assert.equal(lease()?.host_ip_address, '192.168.77.9/24');
      backend.offer({ address: '192.168.77.11/24' });
      await leased('192.168.77.11/24');
    });

    test('a revoked lease is removed without an event', async () => {
      backend.offer(undefined);
      await agent.until('no lease', () => lease() === undefined);
      assert.deepEqual(await addressesOf(agent.client, 'main'), []);
      const borrows = unnumberedKey.build({ iface: 'borrower' });
      await agent.until('given back', () => agent.state(borrows) === 'PENDING');
      backend.offer({ address: '192.168.77.12/24' });
      await leased('192.168.77.12/24');
      assert.equal(lease()?.router_ip_address, '');
    });

    test('deleting the client removes its lease', async () => {
      await agent.commit('update', [main(false)]);
      await agent.until('no lease', () => lease() === undefined);
      assert.deepEqual(await agent.client.dump('dhcp_client_dump', {}), []);
      assert.deepEqual(await addressesOf(agent.client, 'main'), []);
    });

    test('deleting the interface removes everything reported for it', async () => {
      const up = linkStateKey.build({ iface: 'main', state: 'UP' });
      assert.equal(agent.state(up), 'OBTAINED');
      await agent.commit('full-resync', []);
      await agent.until('forgotten', () => agent.state(up) === 'NONEXISTENT');
      assert.equal(
        agent.state(linkStateKey.build({ iface: 'main', state: 'DOWN' })),
        'NONEXISTENT',
      );
    });
  });
}
