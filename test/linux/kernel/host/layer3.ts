/** Addresses, routes and neighbors of the kernel. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AGENT_ROUTE_PROTOCOL } from '#linux/api.ts';
import { HostBench, type LinuxBackend, linkOf, refusedWith, route } from './bench.ts';

/** Protocol of routes that the kernel makes itself. */
const KERNEL = 2;

export function layer3Suite(name: string, make: () => Promise<LinuxBackend>): void {
  describe(`addresses, routes and neighbors: ${name}`, () => {
    const bench = new HostBench(make);

    test('addresses of both families; link-local ones are not shown', async () => {
      const [left] = await bench.pair();
      await bench.host.addAddress(left, 'va', '10.1.1.2/32');
      await bench.host.addAddress(left, 'va', '10.1.2.2/24');
      await bench.host.addAddress(left, 'va', 'fd00::2/64');
      const state = await bench.host.dump(left);
      assert.deepEqual(linkOf(state, 'va').addresses, ['10.1.1.2/32', '10.1.2.2/24', 'fd00::2/64']);
      assert.deepEqual(state.routes, [
        { ...route('10.1.2.0/24', 'va', { scope: 'link' }), protocol: KERNEL },
        { ...route('fd00::/64', 'va', { metric: 256 }), protocol: KERNEL },
      ]);
      await bench.host.deleteAddress(left, 'va', '10.1.2.2/24');
      await bench.host.deleteAddress(left, 'va', 'fd00::2/64');
      const later = await bench.host.dump(left);
      assert.deepEqual(linkOf(later, 'va').addresses, ['10.1.1.2/32']);
      assert.deepEqual(later.routes, []);
    });

    test('addresses that are there already, or not there, or on no link', async () => {
      const [left] = await bench.pair();
      for (const address of ['10.1.1.2/32', 'fd00::2/64']) {
        await assert.rejects(
          bench.host.deleteAddress(left, 'va', address),
          refusedWith('EADDRNOTAVAIL'),
        );
        await bench.host.addAddress(left, 'va', address);
        await assert.rejects(bench.host.addAddress(left, 'va', address), refusedWith('EEXIST'));
        await assert.rejects(bench.host.addAddress(left, 'nope', address), refusedWith('ENODEV'));
      }
    });

    test('the wiring of a pod: address, route to the gateway, default route, neighbor', async () => {
      const [pod] = await bench.pair('eth0', 'veth2');
      const gateway = '10.1.1.1';
      await Promise.all([
        bench.host.addAddress(pod, 'eth0', '10.1.1.2/32'),
        bench.host.setNeighbor(pod, {
          device: 'eth0',
          address: gateway,
          mac: '02:fe:00:00:00:09',
        }),
        bench.host.addRoute(pod, route('10.1.1.1/32', 'eth0', { scope: 'link' })),
        bench.host.addRoute(pod, route('0.0.0.0/0', 'eth0', { gateway })),
      ]);
      const state = await bench.host.dump(pod);
      assert.deepEqual(state.routes, [
        { ...route('0.0.0.0/0', 'eth0', { gateway }), protocol: AGENT_ROUTE_PROTOCOL },
        { ...route('10.1.1.1/32', 'eth0', { scope: 'link' }), protocol: AGENT_ROUTE_PROTOCOL },
      ]);
      assert.deepEqual(state.neighbors, [
        { device: 'eth0', address: gateway, mac: '02:fe:00:00:00:09', permanent: true },
      ]);
    });

    test('a gateway must be reachable over the link', async () => {
      const [left] = await bench.pair();
      await bench.host.addAddress(left, 'va', '10.1.1.2/32');
      const viaV4 = route('0.0.0.0/0', 'va', { gateway: '10.1.1.1' });
      await assert.rejects(bench.host.addRoute(left, viaV4), refusedWith('ENETUNREACH'));
      const viaV6 = route('::/0', 'va', { gateway: 'fd00::1' });
      await assert.rejects(bench.host.addRoute(left, viaV6), refusedWith('EHOSTUNREACH'));
      await bench.host.addAddress(left, 'va', 'fd00::2/64');
      await bench.host.addRoute(left, viaV6);
      assert.deepEqual((await bench.host.dump(left)).routes[0], {
        ...viaV6,
        metric: 1024,
        protocol: AGENT_ROUTE_PROTOCOL,
      });
    });

    test('routes that are there already, or not there, or not valid', async () => {
      const [left] = await bench.pair();
      await bench.host.addAddress(left, 'va', '10.1.1.2/24');
      const some = route('10.9.0.0/16', 'va', { scope: 'link' });
      await assert.rejects(bench.host.deleteRoute(left, some), refusedWith('ESRCH'));
      await bench.host.addRoute(left, some);
      await assert.rejects(bench.host.addRoute(left, some), refusedWith('EEXIST'));
      await bench.host.replaceRoute(left, some);
      await bench.host.addRoute(left, { ...some, metric: 7 });
      await bench.host.deleteRoute(left, some);
      assert.deepEqual(
        (await bench.host.dump(left)).routes.filter((r) => r.protocol === AGENT_ROUTE_PROTOCOL),
        [{ ...some, metric: 7, protocol: AGENT_ROUTE_PROTOCOL }],
      );
      await assert.rejects(
        bench.host.addRoute(left, route('10.9.9.9/16', 'va', { scope: 'link' })),
        refusedWith('EINVAL'),
      );
      await assert.rejects(
        bench.host.addRoute(left, route('10.8.0.0/16', 'nope', { scope: 'link' })),
        refusedWith('ENODEV'),
      );
    });

    test('only our own routes can be deleted', async () => {
      const [left] = await bench.pair();
      await bench.host.addAddress(left, 'va', '10.1.1.2/24');
      await assert.rejects(
        bench.host.deleteRoute(left, route('10.1.1.0/24', 'va', { scope: 'link' })),
        refusedWith('ESRCH'),
      );
    });

    test('a link that is down carries no routes, and loses those that it had', async () => {
      const [left] = await bench.pair();
      await bench.host.addAddress(left, 'va', '10.1.1.2/24');
      await bench.host.addAddress(left, 'va', 'fd00::2/64');
      const some = route('10.9.0.0/16', 'va', { gateway: '10.1.1.1' });
      await bench.host.addRoute(left, some);
      await bench.host.setLink(left, 'va', { up: false });
      const down = await bench.host.dump(left);
      assert.deepEqual(down.routes, []);
      assert.deepEqual(linkOf(down, 'va').addresses, ['10.1.1.2/24'], 'IPv6 addresses go too');
      await assert.rejects(bench.host.addRoute(left, some), refusedWith('ENETUNREACH'));
      await assert.rejects(
        bench.host.addRoute(left, route('10.9.0.0/16', 'va', { scope: 'link' })),
        refusedWith('ENETDOWN'),
      );
      await bench.host.setLink(left, 'va', { up: true });
      assert.deepEqual(
        (await bench.host.dump(left)).routes.map((r) => r.destination),
        ['10.1.1.0/24'],
        'only the connected route is restored',
      );
    });

    test('with its last IPv4 address a link loses its IPv4 routes', async () => {
      const [left] = await bench.pair();
      await bench.host.addAddress(left, 'va', '10.1.1.2/32');
      await bench.host.addAddress(left, 'va', '10.1.1.3/32');
      await bench.host.addRoute(left, route('10.1.1.1/32', 'va', { scope: 'link' }));
      await bench.host.deleteAddress(left, 'va', '10.1.1.2/32');
      assert.equal((await bench.host.dump(left)).routes.length, 1);
      await bench.host.deleteAddress(left, 'va', '10.1.1.3/32');
      assert.deepEqual((await bench.host.dump(left)).routes, []);
    });

    test('neighbors: set, replaced, deleted; deleted when the MAC of the link changes', async () => {
      const [left] = await bench.pair();
      await bench.host.addAddress(left, 'va', '10.1.1.2/24');
      const entry = { device: 'va', address: '10.1.1.1', mac: '02:fe:00:00:00:09' };
      const six = { device: 'va', address: 'fd00::9', mac: '02:fe:00:00:00:09' };
      await bench.host.setNeighbor(left, entry);
      await bench.host.setNeighbor(left, six);
      await bench.host.setNeighbor(left, { ...entry, mac: '02:fe:00:00:00:0a' });
      assert.deepEqual((await bench.host.dump(left)).neighbors, [
        { ...entry, mac: '02:fe:00:00:00:0a', permanent: true },
        { ...six, permanent: true },
      ]);
      await bench.host.deleteNeighbor(left, 'va', '10.1.1.1');
      await assert.rejects(
        bench.host.deleteNeighbor(left, 'va', '10.1.1.1'),
        refusedWith('ENOENT'),
      );
      await assert.rejects(
        bench.host.setNeighbor(left, { ...entry, device: 'nope' }),
        refusedWith('ENODEV'),
      );
      await bench.host.setLink(left, 'va', { mac: '02:fe:00:00:00:01' });
      assert.deepEqual((await bench.host.dump(left)).neighbors, []);
    });
  });
}
