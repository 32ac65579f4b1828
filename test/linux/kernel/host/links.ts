/** Links of the kernel: made, set, moved and deleted. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type LinkReport, NamespaceNotFoundError } from '#linux/api.ts';
import { until } from '#test/support/wait.ts';
import { HostBench, type LinuxBackend, linkOf, refusedWith, route } from './bench.ts';

export function linkSuite(name: string, make: () => Promise<LinuxBackend>): void {
  describe(`links: ${name}`, () => {
    const bench = new HostBench(make);

    test('a fresh namespace has a loopback that is down, and nothing else', async () => {
      const state = await bench.host.dump(await bench.space());
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
        neighbors: [],
      });
    });

    test('namespaces that exist have identities of their own; the boot id stays', async () => {
      const [a, b] = [await bench.space(), await bench.space()];
      const first = await bench.host.namespaceIdentity(a);
      assert.ok(first);
      assert.deepEqual(await bench.host.namespaceIdentity(a), first);
      assert.notDeepEqual(await bench.host.namespaceIdentity(b), first);
      assert.notDeepEqual(await bench.host.namespaceIdentity(undefined), first);
      assert.equal(await bench.host.namespaceIdentity(`${a}-not-there`), undefined);
      assert.match(await bench.host.bootId(), /^[0-9a-f-]{36}$/);
      assert.equal(await bench.host.bootId(), await bench.host.bootId());
    });

    test('a veth pair is created in two namespaces, and each end refers to the other', async () => {
      const [left, right] = [await bench.space(), await bench.space()];
      await bench.host.createVeth(
        { namespace: left, name: 'va' },
        { namespace: right, name: 'vb' },
      );
      const a = linkOf(await bench.host.dump(left), 'va');
      const b = linkOf(await bench.host.dump(right), 'vb');
      assert.equal(a.kind, 'veth');
      assert.equal(a.peerIndex, b.index);
      assert.equal(b.peerIndex, a.index);
      assert.equal(a.up, false);
      assert.equal(a.mtu, 1500);
      assert.match(a.mac ?? '', /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/);
      assert.notEqual(a.mac, b.mac);
    });

    test('a veth pair can be created in one namespace', async () => {
      const here = await bench.space();
      await bench.host.createVeth({ namespace: here, name: 'va' }, { namespace: here, name: 'vb' });
      const state = await bench.host.dump(here);
      assert.equal(linkOf(state, 'va').peerIndex, linkOf(state, 'vb').index);
    });

    test('a taken name refuses the whole pair, on either side', async () => {
      const [left, right] = await bench.pair();
      const attempt = (a: string, b: string) =>
        bench.host.createVeth({ namespace: left, name: a }, { namespace: right, name: b });
      await assert.rejects(attempt('va', 'vc'), refusedWith('EEXIST'));
      await assert.rejects(attempt('vc', 'vb'), refusedWith('EEXIST'));
      assert.equal((await bench.host.dump(left)).links.length, 2);
      assert.equal((await bench.host.dump(right)).links.length, 2);
    });

    test('some links are found by their names, with their addresses', async () => {
      const [left] = await bench.pair();
      const there = await bench.space();
      await bench.host.createVeth(
        { namespace: left, name: 'vc' },
        { namespace: there, name: 'vd' },
      );
      await bench.host.addAddress(left, 'va', '10.1.1.2/32');
      await bench.host.addAddress(left, 'va', 'fd00::2/128');
      await bench.host.addAddress(left, 'vc', '10.1.1.3/32');
      await bench.host.setLink(left, 'vc', { alias: 'mark', up: true });
      const { links } = await bench.host.dump(left);
      const [, va, vc] = links;
      assert.deepEqual(await bench.host.findLinks(left, ['vc', 'none', 'va', 'vc']), [vc, va]);
      assert.deepEqual(await bench.host.findLinks(left, []), []);
      await assert.rejects(bench.host.findLinks(left, ['a b']), refusedWith('EINVAL'));
      await bench.host.deleteLink(there, 'vd');
      assert.deepEqual(await bench.host.findLinks(left, ['vc']), []);
    });

    test('bad names, addresses and numbers are refused, and nothing is sent', async () => {
      const here = await bench.space();
      const bad = [
        () =>
          bench.host.createVeth(
            { namespace: here, name: 'sixteencharacter' },
            { namespace: here, name: 'vb' },
          ),
        () =>
          bench.host.createVeth({ namespace: here, name: 'va' }, { namespace: here, name: 'a b' }),
        () => bench.host.deleteLink(here, ''),
        () => bench.host.setLink(here, 'lo\nlink del dev lo', { up: true }),
        () => bench.host.setLink(here, 'lo', { alias: 'x"\nlink set dev lo up\n#' }),
        () => bench.host.setLink(here, 'lo', { mac: 'up' }),
        () => bench.host.setLink(here, 'lo', { mtu: 1.5 }),
        () => bench.host.addAddress(here, 'lo', '10.1.1.1'),
        () => bench.host.addAddress(here, 'lo', '10.1.1.1/33'),
        () => bench.host.addRoute(here, route('default', 'lo')),
        () => bench.host.addRoute(here, route('10.1.1.0/24', 'lo', { gateway: '10.1.1' })),
        () =>
          bench.host.setNeighbor(here, { device: 'lo', address: 'x', mac: '02:00:00:00:00:01' }),
        () => bench.host.setSysctl(here, '../../etc/passwd', '1'),
        () => bench.host.setSysctl(here, 'net.ipv4.ip_forward', "1'; ip link set lo up; '"),
      ];
      for (const call of bad) await assert.rejects(call, refusedWith('EINVAL'));
      assert.equal(linkOf(await bench.host.dump(here), 'lo').up, false);
    });

    test('link settings: MTU, MAC, alias, up; a pair runs when both ends are up', async () => {
      const [left, right] = [await bench.space(), await bench.space()];
      await bench.host.createVeth(
        { namespace: left, name: 'va' },
        { namespace: right, name: 'vb' },
      );
      await bench.host.setLink(left, 'va', {
        up: true,
        mtu: 1450,
        mac: '02:fe:00:00:00:01',
        alias: "/vnf-agent/k8s-master/a b/it's",
      });
      let a = linkOf(await bench.host.dump(left), 'va');
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
      await bench.host.setLink(right, 'vb', { up: true });
      a = linkOf(await bench.host.dump(left), 'va');
      assert.equal(a.running, true);
      assert.equal(linkOf(await bench.host.dump(right), 'vb').running, true);
      await bench.host.setLink(left, 'va', { up: false, alias: '' });
      a = linkOf(await bench.host.dump(left), 'va');
      assert.deepEqual([a.up, a.running, a.alias], [false, false, undefined]);
      assert.equal(linkOf(await bench.host.dump(right), 'vb').running, false);
    });

    test('link settings that the kernel refuses', async () => {
      const [left] = await bench.pair();
      await assert.rejects(bench.host.setLink(left, 'nope', { up: true }), refusedWith('ENODEV'));
      await assert.rejects(bench.host.setLink(left, 'va', { mtu: 20 }), refusedWith('EINVAL'));
      await assert.rejects(bench.host.setLink(left, 'va', { mtu: 70000 }), refusedWith('EINVAL'));
      await assert.rejects(
        bench.host.setLink(left, 'va', { mac: '01:00:00:00:00:01' }),
        refusedWith('EADDRNOTAVAIL'),
      );
      await assert.rejects(
        bench.host.setLink(left, 'va', { mac: '00:00:00:00:00:00' }),
        refusedWith('EADDRNOTAVAIL'),
      );
    });

    test('a moved link is down and without addresses, and keeps MTU, MAC and alias', async () => {
      const [left, right] = await bench.pair();
      const third = await bench.space();
      await bench.host.setLink(left, 'va', { mtu: 1400, mac: '02:fe:00:00:00:01', alias: 'ours' });
      await bench.host.addAddress(left, 'va', '10.1.1.2/24');
      await bench.host.addAddress(left, 'va', 'fd00::2/64');
      await bench.host.moveLink(
        { namespace: left, name: 'va' },
        { namespace: third, name: 'eth0' },
      );
      assert.deepEqual(
        (await bench.host.dump(left)).links.map((link) => link.name),
        ['lo'],
      );
      const state = await bench.host.dump(third);
      const moved = linkOf(state, 'eth0');
      assert.deepEqual(
        [moved.up, moved.mtu, moved.mac, moved.alias, moved.addresses],
        [false, 1400, '02:fe:00:00:00:01', 'ours', []],
      );
      assert.deepEqual(state.routes, []);
      const other = linkOf(await bench.host.dump(right), 'vb');
      assert.equal(other.running, false);
      assert.equal(other.peerIndex, moved.index);
    });

    test('a link that cannot have its new name stays where it was', async () => {
      const [left, right] = await bench.pair();
      const third = await bench.space();
      await bench.host.createVeth(
        { namespace: third, name: 'eth0' },
        { namespace: third, name: 'va' },
      );
      const from = { namespace: left, name: 'va' };
      await assert.rejects(
        bench.host.moveLink(from, { namespace: right, name: 'vb' }),
        refusedWith('EEXIST'),
      );
      await assert.rejects(
        bench.host.moveLink(from, { namespace: third, name: 'eth0' }),
        refusedWith('EEXIST'),
        'both its old and its new name are taken there',
      );
      assert.equal((await bench.host.dump(right)).links.length, 2);
      assert.equal((await bench.host.dump(third)).links.length, 3);
      linkOf(await bench.host.dump(left), 'va');
      await assert.rejects(
        bench.host.moveLink({ namespace: left, name: 'nope' }, { namespace: right, name: 'x' }),
        refusedWith('ENODEV'),
      );
    });

    test('a link is renamed in its own namespace', async () => {
      const [left] = await bench.pair();
      await bench.host.addAddress(left, 'va', '10.1.1.2/24');
      await bench.host.moveLink({ namespace: left, name: 'va' }, { namespace: left, name: 'eth0' });
      const renamed = linkOf(await bench.host.dump(left), 'eth0');
      assert.deepEqual([renamed.up, renamed.addresses], [false, []]);
      await assert.rejects(
        bench.host.moveLink({ namespace: left, name: 'eth0' }, { namespace: left, name: 'lo' }),
        refusedWith('EEXIST'),
      );
      await assert.rejects(
        bench.host.moveLink({ namespace: left, name: 'va' }, { namespace: left, name: 'x' }),
        refusedWith('ENODEV'),
      );
    });

    test('a link with several addresses of one network is renamed', async () => {
      const [left] = await bench.pair();
      for (const address of ['10.1.1.2/24', '10.1.1.3/24', '10.1.1.4/24'])
        await bench.host.addAddress(left, 'va', address);
      await bench.host.moveLink({ namespace: left, name: 'va' }, { namespace: left, name: 'eth0' });
      assert.deepEqual(linkOf(await bench.host.dump(left), 'eth0').addresses, []);
    });

    test('a TAP moves like any other link', async () => {
      const [from, to] = [await bench.space(), await bench.space()];
      await bench.makeTap(from, 'tap0');
      assert.equal(linkOf(await bench.host.dump(from), 'tap0').kind, 'tun');
      await Promise.all([
        bench.host.moveLink({ namespace: from, name: 'tap0' }, { namespace: to, name: 'eth0' }),
        bench.host.setLink(to, 'eth0', { up: true, mac: '02:fe:00:00:00:01' }),
        bench.host.addAddress(to, 'eth0', '10.1.1.2/32'),
      ]);
      const tap = linkOf(await bench.host.dump(to), 'eth0');
      assert.deepEqual(
        [tap.kind, tap.up, tap.running, tap.peerIndex, tap.addresses],
        ['tun', true, false, undefined, ['10.1.1.2/32']],
      );
    });

    test('the deletion of a TAP begins, and nothing else is deleted so', async () => {
      const [space] = await bench.pair();
      await bench.makeTap(space, 'tap0');
      await bench.makeTap(space, 'tap1');
      await Promise.all(['tap0', 'tap1'].map((name) => bench.host.beginDeleteTap(space, name)));
      const links = async () => (await bench.host.dump(space)).links.map(({ name }) => name);
      await until('both are deleted', async () => (await links()).join() === 'lo,va');
      await assert.rejects(bench.host.beginDeleteTap(space, 'tap0'), refusedWith('ENODEV'));
      await assert.rejects(bench.host.beginDeleteTap(space, 'va'), refusedWith('EINVAL'));
      await assert.rejects(bench.host.beginDeleteTap(space, 'a b'), refusedWith('EINVAL'));
      await assert.rejects(
        bench.host.beginDeleteTap('/run/netns/none', 'tap0'),
        NamespaceNotFoundError,
      );
      assert.deepEqual(await links(), ['lo', 'va']);
    });

    test('deleting one end deletes the other; the loopback stays', async () => {
      const [left, right] = await bench.pair();
      await bench.host.deleteLink(left, 'va');
      assert.deepEqual(
        (await bench.host.dump(right)).links.map((link) => link.name),
        ['lo'],
      );
      await assert.rejects(bench.host.deleteLink(left, 'va'), refusedWith('ENODEV'));
      await assert.rejects(bench.host.deleteLink(left, 'lo'), refusedWith('EOPNOTSUPP'));
    });

    test('sysctl acts inside the namespace', async () => {
      const [left, right] = await bench.pair();
      await bench.host.setSysctl(left, 'net.ipv6.conf.all.disable_ipv6', '1');
      await assert.rejects(bench.host.addAddress(left, 'va', 'fd00::2/64'), refusedWith('EACCES'));
      await bench.host.addAddress(right, 'vb', 'fd00::3/64');
      await bench.host.setSysctl(left, 'net.ipv6.conf.all.disable_ipv6', '0');
      await bench.host.addAddress(left, 'va', 'fd00::2/64');
      await bench.host.setSysctl(left, 'net.ipv4.conf.va.rp_filter', '0');
      await assert.rejects(
        bench.host.setSysctl(left, 'net.ipv4.conf.vb.rp_filter', '0'),
        refusedWith('ENOENT'),
      );
    });

    test('links are reported with their states, other ends and counters', async () => {
      const [left, right] = [await bench.space(), await bench.space()];
      await bench.host.createVeth(
        { namespace: left, name: 'va' },
        { namespace: right, name: 'vb' },
      );
      const other = linkOf(await bench.host.dump(right), 'vb');
      const report = async () => (await bench.host.reportLinks(left)).map(stateOf);
      const ends = { parentIndex: other.index, masterIndex: 0, encapsulation: 'ether' };
      const loopback = { name: 'lo', parentIndex: 0, masterIndex: 0, encapsulation: 'loopback' };
      assert.deepEqual(await report(), [
        { ...loopback, flags: 0x8 },
        { name: 'va', ...ends, flags: 0x1002 },
      ]);
      await bench.host.setLink(left, 'va', { up: true });
      assert.deepEqual((await report())[1], { name: 'va', ...ends, flags: 0x1003 });
      await bench.host.setLink(right, 'vb', { up: true });
      assert.deepEqual((await report())[1], { name: 'va', ...ends, flags: 0x1_1003 });
      const [, { counters, rxQueues, txQueues, txQueueLength }] = (await bench.host.reportLinks(
        left,
      )) as [LinkReport, LinkReport];
      assert.ok(rxQueues > 0 && txQueues > 0);
      assert.equal(txQueueLength, 1000);
      for (const [name, count] of Object.entries(counters))
        assert.ok(Number.isSafeInteger(count) && count < 100_000, `${name} ${count}`);
    });

    test('checksum offload of a link', async () => {
      const [left] = await bench.pair();
      await bench.host.setChecksumOffload(left, 'va', { rx: false, tx: false });
      await bench.host.setChecksumOffload(left, 'va', { tx: true });
      await bench.host.setChecksumOffload(left, 'va', {});
      await assert.rejects(
        bench.host.setChecksumOffload(left, 'nope', { tx: false }),
        refusedWith('ENODEV'),
      );
    });
  });
}

/** The kernel sets it a moment after the link changes, and the operational state with it. */
const RUNNING = 0x40;

/** The part that depends neither on the moment nor on the traffic. */
function stateOf({ name, parentIndex, masterIndex, encapsulation, operState, flags }: LinkReport) {
  assert.ok([0, 2, 6, 7].includes(operState), `${operState}`);
  return { name, parentIndex, masterIndex, encapsulation, flags: flags & ~RUNNING };
}
