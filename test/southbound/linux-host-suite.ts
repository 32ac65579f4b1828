/** What every LinuxHost must do. Run over the simulation and over the kernel of this machine. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { LinuxHost, LinuxLink, LinuxRoute, NamespaceState } from '#southbound/linux/api.ts';
import { ErrLinux, ErrNamespaceGone, OUR_ROUTE_PROTOCOL } from '#southbound/linux/api.ts';

export interface LinuxBackend {
  readonly host: LinuxHost;
  /** A fresh namespace: its path. */
  makeNamespace(): Promise<string>;
  removeNamespace(path: string): Promise<void>;
  /** A TAP that nobody has opened. */
  makeTap(namespace: string, name: string): Promise<void>;
  /** Removes what is left. */
  close(): Promise<void>;
}

function refusedWith(errno: string) {
  return (error: unknown) => {
    assert.ok(error instanceof ErrLinux, String(error));
    assert.equal(error.errno, errno, error.message);
    return true;
  };
}

function linkOf(state: NamespaceState, name: string): LinuxLink {
  const found = state.links.find((link) => link.name === name);
  assert.ok(found, `no link ${name} among ${state.links.map((link) => link.name)}`);
  return found;
}

function route(destination: string, device: string, more: Partial<LinuxRoute> = {}) {
  return { destination, device, scope: 'global' as const, metric: 0, ...more };
}

const kernel = 2;

export function linuxHostSuite(name: string, make: () => Promise<LinuxBackend>): void {
  describe(`LinuxHost: ${name}`, () => {
    let backend: LinuxBackend;
    let host: LinuxHost;
    let spaces: string[] = [];

    before(async () => {
      backend = await make();
      host = backend.host;
    });
    after(() => backend?.close());
    afterEach(async () => {
      for (const path of spaces) await backend.removeNamespace(path);
      spaces = [];
    });

    const space = async () => {
      const path = await backend.makeNamespace();
      spaces.push(path);
      return path;
    };
    /** A pair across two namespaces with both ends up. */
    const pair = async (a = 'va', b = 'vb') => {
      const [left, right] = [await space(), await space()];
      await Promise.all([
        host.createVeth({ namespace: left, name: a }, { namespace: right, name: b }),
        host.setLink(left, a, { up: true }),
        host.setLink(right, b, { up: true }),
      ]);
      return [left, right] as const;
    };

    test('a fresh namespace has a loopback that is down, and nothing else', async () => {
      const state = await host.dump(await space());
      assert.deepEqual(state, {
        links: [
          {
            index: 1,
            name: 'lo',
            kind: 'loopback',
            up: false,
            running: false,
            mtu: 65536,
            mac: '00:00:00:00:00:00',
            alias: undefined,
            peerIndex: undefined,
            addresses: [],
          },
        ],
        routes: [],
        neighbours: [],
      });
    });

    test('namespaces that exist have identities of their own; the boot id stays', async () => {
      const [a, b] = [await space(), await space()];
      const first = await host.namespaceIdentity(a);
      assert.ok(first);
      assert.deepEqual(await host.namespaceIdentity(a), first);
      assert.notDeepEqual(await host.namespaceIdentity(b), first);
      assert.notDeepEqual(await host.namespaceIdentity(undefined), first);
      assert.equal(await host.namespaceIdentity(`${a}-not-there`), undefined);
      assert.match(await host.bootId(), /^[0-9a-f-]{36}$/);
      assert.equal(await host.bootId(), await host.bootId());
    });

    test('a veth pair stands in two namespaces, and each end names the other', async () => {
      const [left, right] = [await space(), await space()];
      await host.createVeth({ namespace: left, name: 'va' }, { namespace: right, name: 'vb' });
      const a = linkOf(await host.dump(left), 'va');
      const b = linkOf(await host.dump(right), 'vb');
      assert.equal(a.kind, 'veth');
      assert.equal(a.peerIndex, b.index);
      assert.equal(b.peerIndex, a.index);
      assert.equal(a.up, false);
      assert.equal(a.mtu, 1500);
      assert.match(a.mac ?? '', /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/);
      assert.notEqual(a.mac, b.mac);
    });

    test('a veth pair may stand in one namespace', async () => {
      const here = await space();
      await host.createVeth({ namespace: here, name: 'va' }, { namespace: here, name: 'vb' });
      const state = await host.dump(here);
      assert.equal(linkOf(state, 'va').peerIndex, linkOf(state, 'vb').index);
    });

    test('a taken name refuses the whole pair, on either side', async () => {
      const [left, right] = await pair();
      const attempt = (a: string, b: string) =>
        host.createVeth({ namespace: left, name: a }, { namespace: right, name: b });
      await assert.rejects(attempt('va', 'vc'), refusedWith('EEXIST'));
      await assert.rejects(attempt('vc', 'vb'), refusedWith('EEXIST'));
      assert.equal((await host.dump(left)).links.length, 2);
      assert.equal((await host.dump(right)).links.length, 2);
    });

    test('bad names, addresses and numbers are refused, and nothing is sent', async () => {
      const here = await space();
      const bad = [
        () =>
          host.createVeth(
            { namespace: here, name: 'sixteencharacter' },
            { namespace: here, name: 'vb' },
          ),
        () => host.createVeth({ namespace: here, name: 'va' }, { namespace: here, name: 'a b' }),
        () => host.deleteLink(here, ''),
        () => host.setLink(here, 'lo\nlink del dev lo', { up: true }),
        () => host.setLink(here, 'lo', { alias: 'x"\nlink set dev lo up\n#' }),
        () => host.setLink(here, 'lo', { mac: 'up' }),
        () => host.setLink(here, 'lo', { mtu: 1.5 }),
        () => host.addAddress(here, 'lo', '10.1.1.1'),
        () => host.addAddress(here, 'lo', '10.1.1.1/33'),
        () => host.addRoute(here, route('default', 'lo')),
        () => host.addRoute(here, route('10.1.1.0/24', 'lo', { gateway: '10.1.1' })),
        () => host.setNeighbour(here, { device: 'lo', address: 'x', mac: '02:00:00:00:00:01' }),
        () => host.setSysctl(here, '../../etc/passwd', '1'),
        () => host.setSysctl(here, 'net.ipv4.ip_forward', "1'; ip link set lo up; '"),
      ];
      for (const call of bad) await assert.rejects(call, refusedWith('EINVAL'));
      assert.equal(linkOf(await host.dump(here), 'lo').up, false);
    });

    test('link settings: MTU, MAC, alias, up; a pair runs when both ends are up', async () => {
      const [left, right] = [await space(), await space()];
      await host.createVeth({ namespace: left, name: 'va' }, { namespace: right, name: 'vb' });
      await host.setLink(left, 'va', {
        up: true,
        mtu: 1450,
        mac: '02:fe:00:00:00:01',
        alias: "/vnf-agent/k8s-master/a b/it's",
      });
      let a = linkOf(await host.dump(left), 'va');
      assert.deepEqual(
        { up: a.up, running: a.running, mtu: a.mtu, mac: a.mac, alias: a.alias },
        {
          up: true,
          running: false,
          mtu: 1450,
          mac: '02:fe:00:00:00:01',
          alias: "/vnf-agent/k8s-master/a b/it's",
        },
      );
      await host.setLink(right, 'vb', { up: true });
      a = linkOf(await host.dump(left), 'va');
      assert.equal(a.running, true);
      assert.equal(linkOf(await host.dump(right), 'vb').running, true);
      await host.setLink(left, 'va', { up: false, alias: '' });
      a = linkOf(await host.dump(left), 'va');
      assert.deepEqual([a.up, a.running, a.alias], [false, false, undefined]);
      assert.equal(linkOf(await host.dump(right), 'vb').running, false);
    });

    test('link settings that the kernel refuses', async () => {
      const [left] = await pair();
      await assert.rejects(host.setLink(left, 'nope', { up: true }), refusedWith('ENODEV'));
      await assert.rejects(host.setLink(left, 'va', { mtu: 20 }), refusedWith('EINVAL'));
      await assert.rejects(host.setLink(left, 'va', { mtu: 70000 }), refusedWith('EINVAL'));
      await assert.rejects(
        host.setLink(left, 'va', { mac: '01:00:00:00:00:01' }),
        refusedWith('EADDRNOTAVAIL'),
      );
      await assert.rejects(
        host.setLink(left, 'va', { mac: '00:00:00:00:00:00' }),
        refusedWith('EADDRNOTAVAIL'),
      );
    });

    test('addresses of both families; link-local ones are not shown', async () => {
      const [left] = await pair();
      await host.addAddress(left, 'va', '10.1.1.2/32');
      await host.addAddress(left, 'va', '10.1.2.2/24');
      await host.addAddress(left, 'va', 'fd00::2/64');
      const state = await host.dump(left);
      assert.deepEqual(linkOf(state, 'va').addresses, ['10.1.1.2/32', '10.1.2.2/24', 'fd00::2/64']);
      assert.deepEqual(state.routes, [
        { ...route('10.1.2.0/24', 'va', { scope: 'link' }), protocol: kernel },
        { ...route('fd00::/64', 'va', { metric: 256 }), protocol: kernel },
      ]);
      await host.deleteAddress(left, 'va', '10.1.2.2/24');
      await host.deleteAddress(left, 'va', 'fd00::2/64');
      const later = await host.dump(left);
      assert.deepEqual(linkOf(later, 'va').addresses, ['10.1.1.2/32']);
      assert.deepEqual(later.routes, []);
    });

    test('addresses that are there already, or not there, or on no link', async () => {
      const [left] = await pair();
      for (const address of ['10.1.1.2/32', 'fd00::2/64']) {
        await assert.rejects(host.deleteAddress(left, 'va', address), refusedWith('EADDRNOTAVAIL'));
        await host.addAddress(left, 'va', address);
        await assert.rejects(host.addAddress(left, 'va', address), refusedWith('EEXIST'));
        await assert.rejects(host.addAddress(left, 'nope', address), refusedWith('ENODEV'));
      }
    });

    test('the wiring of a pod: address, route to the gateway, default route, neighbour', async () => {
      const [pod] = await pair('eth0', 'veth2');
      const gateway = '10.1.1.1';
      await Promise.all([
        host.addAddress(pod, 'eth0', '10.1.1.2/32'),
        host.setNeighbour(pod, { device: 'eth0', address: gateway, mac: '02:fe:00:00:00:09' }),
        host.addRoute(pod, route('10.1.1.1/32', 'eth0', { scope: 'link' })),
        host.addRoute(pod, route('0.0.0.0/0', 'eth0', { gateway })),
      ]);
      const state = await host.dump(pod);
      assert.deepEqual(state.routes, [
        { ...route('0.0.0.0/0', 'eth0', { gateway }), protocol: OUR_ROUTE_PROTOCOL },
        { ...route('10.1.1.1/32', 'eth0', { scope: 'link' }), protocol: OUR_ROUTE_PROTOCOL },
      ]);
      assert.deepEqual(state.neighbours, [
        { device: 'eth0', address: gateway, mac: '02:fe:00:00:00:09', permanent: true },
      ]);
    });

    test('a gateway must be reachable over the link', async () => {
      const [left] = await pair();
      await host.addAddress(left, 'va', '10.1.1.2/32');
      const viaV4 = route('0.0.0.0/0', 'va', { gateway: '10.1.1.1' });
      await assert.rejects(host.addRoute(left, viaV4), refusedWith('ENETUNREACH'));
      const viaV6 = route('::/0', 'va', { gateway: 'fd00::1' });
      await assert.rejects(host.addRoute(left, viaV6), refusedWith('EHOSTUNREACH'));
      await host.addAddress(left, 'va', 'fd00::2/64');
      await host.addRoute(left, viaV6);
      assert.deepEqual((await host.dump(left)).routes[0], {
        ...viaV6,
        metric: 1024,
        protocol: OUR_ROUTE_PROTOCOL,
      });
    });

    test('routes that are there already, or not there, or not valid', async () => {
      const [left] = await pair();
      await host.addAddress(left, 'va', '10.1.1.2/24');
      const some = route('10.9.0.0/16', 'va', { scope: 'link' });
      await assert.rejects(host.deleteRoute(left, some), refusedWith('ESRCH'));
      await host.addRoute(left, some);
      await assert.rejects(host.addRoute(left, some), refusedWith('EEXIST'));
      await host.addRoute(left, { ...some, metric: 7 });
      await host.deleteRoute(left, some);
      assert.deepEqual(
        (await host.dump(left)).routes.filter((r) => r.protocol === OUR_ROUTE_PROTOCOL),
        [{ ...some, metric: 7, protocol: OUR_ROUTE_PROTOCOL }],
      );
      await assert.rejects(
        host.addRoute(left, route('10.9.9.9/16', 'va', { scope: 'link' })),
        refusedWith('EINVAL'),
      );
      await assert.rejects(
        host.addRoute(left, route('10.8.0.0/16', 'nope', { scope: 'link' })),
        refusedWith('ENODEV'),
      );
    });

    test('only our own routes can be deleted', async () => {
      const [left] = await pair();
      await host.addAddress(left, 'va', '10.1.1.2/24');
      await assert.rejects(
        host.deleteRoute(left, route('10.1.1.0/24', 'va', { scope: 'link' })),
        refusedWith('ESRCH'),
      );
    });

    test('a link that is down carries no routes, and loses those that it had', async () => {
      const [left] = await pair();
      await host.addAddress(left, 'va', '10.1.1.2/24');
      await host.addAddress(left, 'va', 'fd00::2/64');
      const some = route('10.9.0.0/16', 'va', { gateway: '10.1.1.1' });
      await host.addRoute(left, some);
      await host.setLink(left, 'va', { up: false });
      const down = await host.dump(left);
      assert.deepEqual(down.routes, []);
      assert.deepEqual(linkOf(down, 'va').addresses, ['10.1.1.2/24'], 'IPv6 addresses go too');
      await assert.rejects(host.addRoute(left, some), refusedWith('ENETUNREACH'));
      await assert.rejects(
        host.addRoute(left, route('10.9.0.0/16', 'va', { scope: 'link' })),
        refusedWith('ENETDOWN'),
      );
      await host.setLink(left, 'va', { up: true });
      assert.deepEqual(
        (await host.dump(left)).routes.map((r) => r.destination),
        ['10.1.1.0/24'],
        'only the connected route comes back',
      );
    });

    test('with its last IPv4 address a link loses its IPv4 routes', async () => {
      const [left] = await pair();
      await host.addAddress(left, 'va', '10.1.1.2/32');
      await host.addAddress(left, 'va', '10.1.1.3/32');
      await host.addRoute(left, route('10.1.1.1/32', 'va', { scope: 'link' }));
      await host.deleteAddress(left, 'va', '10.1.1.2/32');
      assert.equal((await host.dump(left)).routes.length, 1);
      await host.deleteAddress(left, 'va', '10.1.1.3/32');
      assert.deepEqual((await host.dump(left)).routes, []);
    });

    test('neighbours: set, replaced, deleted; gone when the MAC of the link changes', async () => {
      const [left] = await pair();
      await host.addAddress(left, 'va', '10.1.1.2/24');
      const entry = { device: 'va', address: '10.1.1.1', mac: '02:fe:00:00:00:09' };
      const six = { device: 'va', address: 'fd00::9', mac: '02:fe:00:00:00:09' };
      await host.setNeighbour(left, entry);
      await host.setNeighbour(left, six);
      await host.setNeighbour(left, { ...entry, mac: '02:fe:00:00:00:0a' });
      assert.deepEqual((await host.dump(left)).neighbours, [
        { ...entry, mac: '02:fe:00:00:00:0a', permanent: true },
        { ...six, permanent: true },
      ]);
      await host.deleteNeighbour(left, 'va', '10.1.1.1');
      await assert.rejects(host.deleteNeighbour(left, 'va', '10.1.1.1'), refusedWith('ENOENT'));
      await assert.rejects(
        host.setNeighbour(left, { ...entry, device: 'nope' }),
        refusedWith('ENODEV'),
      );
      await host.setLink(left, 'va', { mac: '02:fe:00:00:00:01' });
      assert.deepEqual((await host.dump(left)).neighbours, []);
    });

    test('a moved link comes out down and bare, and keeps MTU, MAC and alias', async () => {
      const [left, right] = await pair();
      const third = await space();
      await host.setLink(left, 'va', { mtu: 1400, mac: '02:fe:00:00:00:01', alias: 'ours' });
      await host.addAddress(left, 'va', '10.1.1.2/24');
      await host.addAddress(left, 'va', 'fd00::2/64');
      await host.moveLink({ namespace: left, name: 'va' }, { namespace: third, name: 'eth0' });
      assert.deepEqual(
        (await host.dump(left)).links.map((link) => link.name),
        ['lo'],
      );
      const state = await host.dump(third);
      const moved = linkOf(state, 'eth0');
      assert.deepEqual(
        [moved.up, moved.mtu, moved.mac, moved.alias, moved.addresses],
        [false, 1400, '02:fe:00:00:00:01', 'ours', []],
      );
      assert.deepEqual(state.routes, []);
      const other = linkOf(await host.dump(right), 'vb');
      assert.equal(other.running, false);
      assert.equal(other.peerIndex, moved.index);
    });

    test('a link that cannot have its new name stays where it was', async () => {
      const [left, right] = await pair();
      const third = await space();
      await host.createVeth({ namespace: third, name: 'eth0' }, { namespace: third, name: 'va' });
      const from = { namespace: left, name: 'va' };
      await assert.rejects(
        host.moveLink(from, { namespace: right, name: 'vb' }),
        refusedWith('EEXIST'),
      );
      await assert.rejects(
        host.moveLink(from, { namespace: third, name: 'eth0' }),
        refusedWith('EEXIST'),
        'both its old and its new name are taken there',
      );
      assert.equal((await host.dump(right)).links.length, 2);
      assert.equal((await host.dump(third)).links.length, 3);
      linkOf(await host.dump(left), 'va');
      await assert.rejects(
        host.moveLink({ namespace: left, name: 'nope' }, { namespace: right, name: 'x' }),
        refusedWith('ENODEV'),
      );
    });

    test('a link is renamed in its own namespace', async () => {
      const [left] = await pair();
      await host.addAddress(left, 'va', '10.1.1.2/24');
      await host.moveLink({ namespace: left, name: 'va' }, { namespace: left, name: 'eth0' });
      const renamed = linkOf(await host.dump(left), 'eth0');
      assert.deepEqual([renamed.up, renamed.addresses], [false, []]);
      await assert.rejects(
        host.moveLink({ namespace: left, name: 'eth0' }, { namespace: left, name: 'lo' }),
        refusedWith('EEXIST'),
      );
      await assert.rejects(
        host.moveLink({ namespace: left, name: 'va' }, { namespace: left, name: 'x' }),
        refusedWith('ENODEV'),
      );
    });

    test('a TAP moves like any other link', async () => {
      const [from, to] = [await space(), await space()];
      await backend.makeTap(from, 'tap0');
      assert.equal(linkOf(await host.dump(from), 'tap0').kind, 'tun');
      await Promise.all([
        host.moveLink({ namespace: from, name: 'tap0' }, { namespace: to, name: 'eth0' }),
        host.setLink(to, 'eth0', { up: true, mac: '02:fe:00:00:00:01' }),
        host.addAddress(to, 'eth0', '10.1.1.2/32'),
      ]);
      const tap = linkOf(await host.dump(to), 'eth0');
      assert.deepEqual(
        [tap.kind, tap.up, tap.running, tap.peerIndex, tap.addresses],
        ['tun', true, false, undefined, ['10.1.1.2/32']],
      );
    });

    test('deleting one end deletes the other; the loopback stays', async () => {
      const [left, right] = await pair();
      await host.deleteLink(left, 'va');
      assert.deepEqual(
        (await host.dump(right)).links.map((link) => link.name),
        ['lo'],
      );
      await assert.rejects(host.deleteLink(left, 'va'), refusedWith('ENODEV'));
      await assert.rejects(host.deleteLink(left, 'lo'), refusedWith('EOPNOTSUPP'));
    });

    test('delete and create of the same names in one turn', async () => {
      const here = await space();
      const make = () =>
        host.createVeth({ namespace: here, name: 'va' }, { namespace: here, name: 'vb' });
      await make();
      await Promise.all([
        host.setLink(here, 'vb', { mtu: 1400 }),
        host.deleteLink(here, 'va'),
        make(),
        host.setLink(here, 'vb', { mtu: 1300 }),
        host.setLink(here, 'va', { mtu: 1300 }),
      ]);
      assert.equal(linkOf(await host.dump(here), 'vb').mtu, 1300);
    });

    test('in one turn, each failure belongs to its own call and stops no other', async () => {
      const [left] = await pair();
      const calls = await Promise.allSettled([
        host.addAddress(left, 'va', '10.1.1.2/24'),
        host.deleteNeighbour(left, 'va', '10.1.1.77'),
        host.addAddress(left, 'va', '10.1.1.2/24'),
        host.setSysctl(left, 'net.ipv4.nothing_of_this_name', '1'),
        host.deleteNeighbour(left, 'va', '10.1.1.78'),
        host.deleteNeighbour(left, 'va', '10.1.1.79'),
        host.addRoute(left, route('10.9.0.0/16', 'va', { gateway: '10.1.1.1' })),
        host.deleteLink(left, 'nope'),
        host.setLink(left, 'va', { alias: 'last' }),
      ]);
      assert.deepEqual(
        calls.map((call) =>
          call.status === 'fulfilled' ? 'done' : (call.reason as ErrLinux).errno,
        ),
        ['done', 'ENOENT', 'EEXIST', 'ENOENT', 'ENOENT', 'ENOENT', 'done', 'ENODEV', 'done'],
      );
      assert.equal(linkOf(await host.dump(left), 'va').alias, 'last');
    });

    test('sysctl acts inside the namespace', async () => {
      const [left, right] = await pair();
      await host.setSysctl(left, 'net.ipv6.conf.all.disable_ipv6', '1');
      await assert.rejects(host.addAddress(left, 'va', 'fd00::2/64'), refusedWith('EACCES'));
      await host.addAddress(right, 'vb', 'fd00::3/64');
      await host.setSysctl(left, 'net.ipv6.conf.all.disable_ipv6', '0');
      await host.addAddress(left, 'va', 'fd00::2/64');
      await host.setSysctl(left, 'net.ipv4.conf.va.rp_filter', '0');
      await assert.rejects(
        host.setSysctl(left, 'net.ipv4.conf.vb.rp_filter', '0'),
        refusedWith('ENOENT'),
      );
    });

    test('checksum offload of a link', async () => {
      const [left] = await pair();
      await host.setChecksumOffload(left, 'va', { rx: false, tx: false });
      await host.setChecksumOffload(left, 'va', { tx: true });
      await host.setChecksumOffload(left, 'va', {});
      await assert.rejects(
        host.setChecksumOffload(left, 'nope', { tx: false }),
        refusedWith('ENODEV'),
      );
    });

    test('a namespace that is gone takes its links along and fails its own calls only', async () => {
      const [left, right] = await pair();
      const gone = await space();
      await backend.removeNamespace(gone);
      await backend.removeNamespace(left);
      assert.equal(await host.namespaceIdentity(left), undefined);
      // the kernel takes a namespace down after its last user is gone, in its own time
      for (let i = 0; i < 200 && (await host.dump(right)).links.length > 1; i++) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      assert.deepEqual(
        (await host.dump(right)).links.map((link) => link.name),
        ['lo'],
      );
      await assert.rejects(host.dump(left), ErrNamespaceGone);
      await assert.rejects(host.setSysctl(left, 'net.ipv4.ip_forward', '1'), ErrNamespaceGone);
      const calls = await Promise.allSettled([
        host.createVeth({ namespace: right, name: 'a1' }, { namespace: gone, name: 'b1' }),
        host.createVeth({ namespace: right, name: 'a2' }, { namespace: right, name: 'b2' }),
        host.moveLink({ namespace: right, name: 'a2' }, { namespace: gone, name: 'c' }),
        host.setLink(right, 'a2', { up: true }),
        host.createVeth({ namespace: gone, name: 'a3' }, { namespace: right, name: 'b3' }),
      ]);
      assert.deepEqual(
        calls.map((call) => call.status === 'fulfilled' || call.reason instanceof ErrNamespaceGone),
        [true, true, true, true, true],
      );
      assert.deepEqual(
        calls.map((call) => call.status),
        ['rejected', 'fulfilled', 'rejected', 'fulfilled', 'rejected'],
      );
      assert.deepEqual((await host.dump(right)).links.map((link) => link.name).sort(), [
        'a2',
        'b2',
        'lo',
      ]);
    });

    test('more calls than one process takes keep their order', async () => {
      const [left] = await pair();
      const calls = Array.from({ length: 150 }, (_, i) =>
        host.setLink(left, 'va', { mtu: 1300 + i }),
      );
      await Promise.all(calls);
      assert.equal(linkOf(await host.dump(left), 'va').mtu, 1449);
    });

    test('many pods in one turn', async () => {
      const node = await space();
      const pods = await Promise.all(Array.from({ length: 8 }, space));
      await Promise.all(
        pods.flatMap((pod, i) => [
          host.createVeth({ namespace: node, name: `v${i}` }, { namespace: pod, name: 'eth0' }),
          host.setLink(node, `v${i}`, { up: true }),
          host.setLink(pod, 'eth0', { up: true, mtu: 1450 }),
          host.addAddress(pod, 'eth0', `10.1.1.${i + 2}/32`),
          host.addRoute(pod, route('10.1.1.1/32', 'eth0', { scope: 'link' })),
          host.addRoute(pod, route('0.0.0.0/0', 'eth0', { gateway: '10.1.1.1' })),
          host.setChecksumOffload(pod, 'eth0', { tx: false }),
        ]),
      );
      for (const pod of pods) {
        const state = await host.dump(pod);
        assert.equal(linkOf(state, 'eth0').running, true);
        assert.equal(state.routes.length, 2);
      }
    });
  });
}
