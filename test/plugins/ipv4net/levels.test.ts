import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import { Shutdown } from '#plugins/controller/api/events.ts';
import { ReachableNodes } from '#plugins/ipv4net/reachable-nodes.ts';
import type { Node } from '#plugins/nodesync/api.ts';
import { idRecordKey, idRecordText } from '#plugins/nodesync/id-allocator.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { nodeValue, podValue, sorted, TestNode, vppNodeValue } from '../test-node.ts';

const INTERCONNECT = 'ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}';
const modes = [
  INTERCONNECT,
  `useTAPInterfaces: false\n${INTERCONNECT}`,
  `nodeToNodeTransport: nooverlay\n${INTERCONNECT}`,
];

/** Few addresses, so that nodes often get in each other's way; one is that of the node itself. */
const vppAddress = fc.constantFrom(
  '192.168.16.1/24',
  '192.168.16.2/24',
  '192.168.16.3/24',
  'fd::2/64',
);
const mgmtAddress = fc.constantFrom('172.16.0.6', '172.16.0.7', '192.168.16.2', 'fd09::1');
const node = fc.integer({ min: 2, max: 5 });

const step = fc.oneof(
  fc.record({
    kind: fc.constant('vppnode' as const),
    node,
    addresses: fc.uniqueArray(vppAddress, { maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant('left' as const), node }),
  fc.record({
    kind: fc.constant('node' as const),
    node,
    addresses: fc.uniqueArray(mgmtAddress, { maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant('forgotten' as const), node }),
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('add' as const, 'refused' as const, 'del' as const, 'show' as const),
      pod: fc.nat(1),
      container: fc.nat(1),
      interfaceName: fc.constantFrom('eth0', 'net1'),
    }),
  },
);

describe('updates and resyncs', () => {
  it('lead to the same configuration, whatever has happened', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...modes),
        fc.array(step, { maxLength: 30 }),
        fc.array(fc.nat(29), { maxLength: 2 }),
        async (yaml, steps, resyncsAt) => {
          const bench = new TestNode({ yaml });
          await bench.resync();
          for (const [position, one] of steps.entries()) {
            if (one.kind === 'vppnode')
              await bench.put(vppNodeValue(one.node, `node-${one.node}`, ...one.addresses));
            else if (one.kind === 'left')
              await bench.remove(vppNodeValue(one.node, `node-${one.node}`));
            else if (one.kind === 'node')
              await bench.put(nodeValue(`node-${one.node}`, ...one.addresses));
            else if (one.kind === 'forgotten') await bench.remove(nodeValue(`node-${one.node}`));
            else {
              const pod = `p${one.pod}`;
              const container = `c${one.container}`;
              bench.rejects = () => one.kind === 'refused';
              if (one.kind === 'del') await bench.del(pod, container, one.interfaceName);
              else if (one.kind === 'show') {
                const [address] = bench.ipam.podAddresses(`${container}/${one.interfaceName}`);
                if (address) await bench.put(podValue(pod, address));
              } else await bench.add(pod, container, one.interfaceName);
              bench.rejects = () => false;
            }
            if (resyncsAt.includes(position)) await bench.heal();
          }
          const built = sorted(bench.config);
          const data = bench.handlers.map((handler) => handler.describeInternalData?.());
          assert.equal((await bench.heal()).error, undefined);
          assert.deepEqual(sorted(bench.config), built);
          assert.deepEqual(
            bench.handlers.map((handler) => handler.describeInternalData?.()),
            data,
          );
          const state = bench.state();
          const next = bench.restart();
          assert.equal((await next.resync(state)).error, undefined);
          assert.deepEqual(sorted(next.config), built);
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('a pod that could not be added', () => {
  it('leaves nothing behind that another interface of its container would keep', async () => {
    const bench = new TestNode();
    await bench.resync();
    bench.rejects = () => true;
    await bench.add('web', 'c1');
    bench.rejects = () => false;
    await bench.add('web', 'c1', 'net1');
    assert.ok(bench.config.has('config/linux/interfaces/v2/interface/linux-loop-c1'));
    await bench.del('web', 'c1', 'net1');
    assert.deepEqual(
      [...bench.config.keys()].filter((key) => key.includes('c1')),
      [],
    );
  });
});

describe('other nodes', () => {
  const b = vppNodeValue(2, 'node-b', '192.168.16.2/24');
  const kubeB = nodeValue('node-b', '172.16.0.6');
  const has = (bench: TestNode, id: number) =>
    bench.config.has(`config/vpp/v2/interfaces/vxlan-default-${id}`);

  it('are reached as soon as both addresses are known, and no longer', async () => {
    const bench = new TestNode();
    await bench.resync();
    await bench.put(b);
    assert.ok(!has(bench, 2));
    await bench.put(kubeB);
    assert.ok(has(bench, 2));
    await bench.remove(kubeB);
    assert.ok(!has(bench, 2));
    await bench.put(kubeB);
    const { followUps } = await bench.remove(b);
    assert.equal(followUps.length, 1);
    assert.ok(!has(bench, 2));
    await bench.resync();
    const bare = sorted(bench.config);
    await bench.put(b);
    await bench.remove(b);
    assert.deepEqual(sorted(bench.config), bare);
  });

  it('with an ID beyond the plan of the addresses take the way to no other along', async () => {
    // 256 still has a network for pods, but no address among the tunnels
    for (const id of [256, 300, 4294967295]) {
      const strange = vppNodeValue(id, 'node-x', '192.168.16.9/24');
      const kubeX = nodeValue('node-x', '172.16.0.9');
      const clean = new TestNode();
      await clean.resync([b, kubeB]);
      const bench = new TestNode();
      assert.equal((await bench.resync([b, kubeB, strange, kubeX])).error, undefined, `ID ${id}`);
      assert.deepEqual(sorted(bench.config), sorted(clean.config));
      await bench.remove(strange);
      assert.equal((await bench.put(strange)).error, undefined);
      assert.deepEqual(sorted(bench.config), sorted(clean.config));
      // the record is mended
      await bench.remove(strange);
      await bench.put(vppNodeValue(9, 'node-x', '192.168.16.9/24'));
      assert.ok(has(bench, 9));
    }
  });

  it('do not touch the bridge domain when only their routes change', async () => {
    const bench = new TestNode();
    await bench.resync([b, kubeB]);
    const domain = bench.at('config/vpp/l2/v2/bridge-domain/vxlanBD');
    await bench.put(nodeValue('node-b', '172.16.0.7'));
    assert.equal(bench.at('config/vpp/l2/v2/bridge-domain/vxlanBD'), domain);
    assert.ok(bench.config.has('config/vpp/v2/route/vrf/0/dst/172.16.0.7/32/gw/0.0.0.0'));
    assert.ok(!bench.config.has('config/vpp/v2/route/vrf/0/dst/172.16.0.6/32/gw/0.0.0.0'));
  });

  it('that share an address do so at the cost of the one with the higher ID', async () => {
    const bench = new TestNode();
    await bench.resync([b, kubeB]);
    const c = vppNodeValue(3, 'node-c', '192.168.16.2/24');
    await bench.put(c);
    await bench.put(nodeValue('node-c', '172.16.0.7'));
    assert.deepEqual([has(bench, 2), has(bench, 3)], [true, false]);
    await bench.remove(b);
    assert.deepEqual([has(bench, 2), has(bench, 3)], [false, true]);
    await bench.put(b);
    assert.deepEqual([has(bench, 2), has(bench, 3)], [true, false]);
  });

  it('that claim the address of this node are not reached', async () => {
    const bench = new TestNode();
    await bench.resync([vppNodeValue(2, 'node-b', '192.168.16.1/24'), kubeB]);
    assert.ok(!has(bench, 2));
  });

  it('are not sought through their own tunnel', async () => {
    const bench = new TestNode();
    await bench.resync([b, nodeValue('node-b', '192.168.16.2')]);
    assert.ok(!bench.config.has('config/vpp/v2/route/vrf/0/dst/192.168.16.2/32/gw/0.0.0.0'));
  });

  it('give a shared key back to the other when they leave', async () => {
    const bench = new TestNode();
    await bench.resync([b, kubeB]);
    await bench.put(vppNodeValue(3, 'node-c', '192.168.16.3/24'));
    await bench.put(nodeValue('node-c', '172.16.0.6'));
    const key = 'config/vpp/v2/route/vrf/0/dst/172.16.0.6/32/gw/0.0.0.0';
    await bench.remove(vppNodeValue(3, 'node-c'));
    assert.ok(bench.config.has(key));
    await bench.remove(b);
    assert.ok(!bench.config.has(key));
  });
});

describe('neighbors', () => {
  it('agree with a search through all of them', () => {
    const change = fc.record({
      id: fc.integer({ min: 1, max: 6 }),
      address: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 25 }), (changes) => {
        const neighbors = new ReachableNodes({
          addressOf: (one) => one.vppAddresses[0],
          whyUnreachable: () => undefined,
          hasTunnel: () => true,
        });
        const all = new Map<string, Node>();
        const reached = () =>
          new Map(
            [...all].map(([name]) => {
              const own = all.get(name)!;
              const [address] = own.vppAddresses;
              const rivals = [...all.values()].filter((one) => one.vppAddresses[0] === address);
              const lowest = rivals.every((one) => one.id >= own.id);
              return [name, address !== undefined && lowest] as const;
            }),
          );
        for (const { id, address } of changes) {
          const before = reached();
          const name = `n${id}`;
          const current: Node | undefined =
            address === undefined && id % 2
              ? undefined
              : {
                  id,
                  name,
                  vppAddresses: address === undefined ? [] : [address],
                  managementAddresses: [],
                  podCidr: '',
                };
          if (current) all.set(name, current);
          else all.delete(name);
          const affected = neighbors.set(name, current);
          const after = reached();
          for (const one of new Set([...before.keys(), ...after.keys()])) {
            assert.equal(neighbors.find(one) !== undefined, after.get(one) ?? false);
            if (before.get(one) !== after.get(one)) assert.ok(affected.includes(one), one);
          }
          const ids = [...after].filter(([, is]) => is).map(([one]) => Number(one.slice(1)));
          assert.deepEqual(neighbors.ids(), ids.sort());
        }
      }),
    );
  });
});

describe('trouble', () => {
  it('with the host stops a resync before it takes half the configuration away', async () => {
    const bench = new TestNode();
    bench.host.failing = new Error('no netlink');
    assert.ok((await bench.resync()).error instanceof AbortEventError);
    bench.host.failing = undefined;
    await bench.resync();
    const built = sorted(bench.config);
    bench.host.failing = new Error('no netlink');
    assert.equal((await bench.heal()).error, undefined);
    assert.deepEqual(sorted(bench.config), built);
  });

  it('with the plan of the addresses stops a resync before it takes everything away', async () => {
    const cluster = new MemoryStore();
    // still has a network for pods, but no address of its own
    await cluster.put(idRecordKey(256), idRecordText(256, 'node-a'));
    const bench = new TestNode({ cluster });
    const { error } = await bench.resync();
    assert.ok(error instanceof AbortEventError);
    assert.match(error.message, /has no address for node 256/);
  });

  it('keeps everything at shutdown, unless it is an un-deploy', async () => {
    const bench = new TestNode();
    await bench.resync();
    await bench.add('web', 'c1');
    assert.equal((await bench.run(Shutdown.event({ cleanup: false }))).txn.values.size, 0);
    await bench.run(Shutdown.event({ cleanup: true }));
    assert.deepEqual(sorted(bench.config), []);
  });
});
