/** Many calls in one turn. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type LinuxError, NamespaceNotFoundError } from '#linux/api.ts';
import { HostBench, type LinuxBackend, linkOf, route } from './bench.ts';

export function turnSuite(name: string, make: () => Promise<LinuxBackend>): void {
  describe(`many calls in one turn: ${name}`, () => {
    const bench = new HostBench(make);

    test('delete and create of the same names in one turn', async () => {
      const here = await bench.space();
      const make = () =>
        bench.host.createVeth({ namespace: here, name: 'va' }, { namespace: here, name: 'vb' });
      await make();
      await Promise.all([
        bench.host.setLink(here, 'vb', { mtu: 1400 }),
        bench.host.deleteLink(here, 'va'),
        make(),
        bench.host.setLink(here, 'vb', { mtu: 1300 }),
        bench.host.setLink(here, 'va', { mtu: 1300 }),
      ]);
      assert.equal(linkOf(await bench.host.dump(here), 'vb').mtu, 1300);
    });

    test('in one turn, each failure belongs to its own call and stops no other', async () => {
      const [left] = await bench.pair();
      const calls = await Promise.allSettled([
        bench.host.addAddress(left, 'va', '10.1.1.2/24'),
        bench.host.deleteNeighbor(left, 'va', '10.1.1.77'),
        bench.host.addAddress(left, 'va', '10.1.1.2/24'),
        bench.host.setSysctl(left, 'net.ipv4.nothing_of_this_name', '1'),
        bench.host.deleteNeighbor(left, 'va', '10.1.1.78'),
        bench.host.deleteNeighbor(left, 'va', '10.1.1.79'),
        bench.host.addRoute(left, route('10.9.0.0/16', 'va', { gateway: '10.1.1.1' })),
        bench.host.deleteLink(left, 'nope'),
        bench.host.setLink(left, 'va', { alias: 'last' }),
      ]);
      assert.deepEqual(
        calls.map((call) =>
          call.status === 'fulfilled' ? 'done' : (call.reason as LinuxError).errno,
        ),
        ['done', 'ENOENT', 'EEXIST', 'ENOENT', 'ENOENT', 'ENOENT', 'done', 'ENODEV', 'done'],
      );
      assert.equal(linkOf(await bench.host.dump(left), 'va').alias, 'last');
    });

    test('a deleted namespace deletes its links and fails only its own calls', async () => {
      const [left, right] = await bench.pair();
      const gone = await bench.space();
      await bench.removeNamespace(gone);
      await bench.removeNamespace(left);
      assert.equal(await bench.host.namespaceIdentity(left), undefined);
      // the kernel deletes a namespace asynchronously after its last user
      for (let i = 0; i < 200 && (await bench.host.dump(right)).links.length > 1; i++) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      assert.deepEqual(
        (await bench.host.dump(right)).links.map((link) => link.name),
        ['lo'],
      );
      await assert.rejects(bench.host.dump(left), NamespaceNotFoundError);
      await assert.rejects(
        bench.host.setSysctl(left, 'net.ipv4.ip_forward', '1'),
        NamespaceNotFoundError,
      );
      const calls = await Promise.allSettled([
        bench.host.createVeth({ namespace: right, name: 'a1' }, { namespace: gone, name: 'b1' }),
        bench.host.createVeth({ namespace: right, name: 'a2' }, { namespace: right, name: 'b2' }),
        bench.host.moveLink({ namespace: right, name: 'a2' }, { namespace: gone, name: 'c' }),
        bench.host.setLink(right, 'a2', { up: true }),
        bench.host.createVeth({ namespace: gone, name: 'a3' }, { namespace: right, name: 'b3' }),
      ]);
      assert.deepEqual(
        calls.map(
          (call) => call.status === 'fulfilled' || call.reason instanceof NamespaceNotFoundError,
        ),
        [true, true, true, true, true],
      );
      assert.deepEqual(
        calls.map((call) => call.status),
        ['rejected', 'fulfilled', 'rejected', 'fulfilled', 'rejected'],
      );
      assert.deepEqual((await bench.host.dump(right)).links.map((link) => link.name).sort(), [
        'a2',
        'b2',
        'lo',
      ]);
    });

    test('more calls than one batch takes keep their order', async () => {
      const [left] = await bench.pair();
      const calls = Array.from({ length: 150 }, (_, i) =>
        bench.host.setLink(left, 'va', { mtu: 1300 + i }),
      );
      await Promise.all(calls);
      assert.equal(linkOf(await bench.host.dump(left), 'va').mtu, 1449);
    });

    test('many pods in one turn', async () => {
      const node = await bench.space();
      const pods = await Promise.all(Array.from({ length: 8 }, () => bench.space()));
      await Promise.all(
        pods.flatMap((pod, i) => [
          bench.host.createVeth(
            { namespace: node, name: `v${i}` },
            { namespace: pod, name: 'eth0' },
          ),
          bench.host.setLink(node, `v${i}`, { up: true }),
          bench.host.setLink(pod, 'eth0', { up: true, mtu: 1450 }),
          bench.host.addAddress(pod, 'eth0', `10.1.1.${i + 2}/32`),
          bench.host.addRoute(pod, route('10.1.1.1/32', 'eth0', { scope: 'link' })),
          bench.host.addRoute(pod, route('0.0.0.0/0', 'eth0', { gateway: '10.1.1.1' })),
          bench.host.setChecksumOffload(pod, 'eth0', { tx: false }),
        ]),
      );
      for (const pod of pods) {
        const state = await bench.host.dump(pod);
        assert.equal(linkOf(state, 'eth0').running, true);
        assert.equal(state.routes.length, 2);
      }
    });
  });
}
