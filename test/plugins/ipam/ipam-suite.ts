/**
 * The contract of every IPAM behind `plugins/ipam/api.ts`, whichever addresses it allocates.
 * Pods of the tests are `default/p0` to `default/p11` and one for which there is no address,
 * `default/one-too-many`; the node has ID 1 and the addresses of `small`.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { MakeIpam } from '#cmd/agent/plugins.ts';
import { CodedError } from '#infra/errors/errors.ts';
import { FatalError } from '#plugins/controller/api/errors.ts';
import { addressOf, sorted, TestNode } from '../test-node.ts';

/** 10.1.1.16/28: twelve addresses for pods. */
const SMALL = `
ipamConfig:
  podSubnetCIDR: 10.1.1.0/24
  podSubnetOneNodePrefixLen: 28
  nodeInterconnectCIDR: 192.168.16.0/24
`;
/** How many pods have a place. */
export const PODS = 12;

/** As one number. */
const numberOf = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

const within = (address: string, cidr: string): boolean => {
  const [network = '', length] = cidr.split('/');
  const size = 2 ** (32 - Number(length));
  return Math.floor(numberOf(address) / size) === Math.floor(numberOf(network) / size);
};

export function ipamSuite(name: string, make: MakeIpam): void {
  const started = async () => {
    const node = new TestNode({ yaml: SMALL, createIpam: make });
    await node.resync();
    return node;
  };
  const fill = async (node: TestNode) => {
    const given: string[] = [];
    for (let n = 0; n < PODS; n++) given.push(addressOf(await node.add(`p${n}`, `c${n}`)));
    return given;
  };

  describe(`IPAM (${name})`, () => {
    it('knows no subnets before the first resync, and says so', () => {
      const node = new TestNode({ yaml: SMALL, createIpam: make });
      assert.throws(() => node.ipam.podGateway(), FatalError);
      assert.deepEqual(node.ipam.podAddresses('c0/eth0'), []);
    });

    it('gives each pod an address of this node that nothing else has', async () => {
      const node = await started();
      const given = await fill(node);
      const { ipam } = node;
      assert.equal(new Set(given).size, PODS);
      const [, network = ''] = /^(.*)\/28$/.exec(ipam.podSubnetThisNode()) ?? [];
      for (const address of given) {
        assert.ok(within(address, ipam.podSubnetThisNode()), address);
        assert.ok(![network, ipam.podGateway(), ipam.natLoopback()].includes(address), address);
      }
      given.forEach((address, n) => {
        assert.deepEqual(ipam.podAddresses(`c${n}/eth0`), [address]);
      });
    });

    it('has the subnets of one plan', async () => {
      const { ipam } = await started();
      const [own, other] = [ipam.podSubnetThisNode(), ipam.podSubnetOtherNode(2)];
      assert.equal(ipam.podSubnetOtherNode(1), own);
      assert.notEqual(own, other);
      for (const subnet of [own, other])
        assert.ok(within(subnet.split('/')[0]!, ipam.podSubnetAllNodes()));
      assert.ok(within(ipam.podGateway(), own) && within(ipam.natLoopback(), own));
      assert.equal(ipam.hostPrefixLength, 32);
      assert.deepEqual(ipam.nodeAddresses(1), ['192.168.16.1/24']);
      assert.notEqual(ipam.vxlanAddress(1), ipam.vxlanAddress(2));
      for (const end of [ipam.hostInterconnectVpp(), ipam.hostInterconnectLinux()])
        assert.ok(within(end.split('/')[0]!, ipam.hostInterconnectSubnetThisNode()));
      assert.notEqual(
        ipam.hostInterconnectSubnetOtherNode(2),
        ipam.hostInterconnectSubnetThisNode(),
      );
      assert.ok(ipam.hostInterconnectSubnetAllNodes() && ipam.serviceSubnet());
    });

    it('lists who holds what', async () => {
      const node = await started();
      const address = addressOf(await node.add('p3', 'c3'));
      const [allocated, ...more] = [...node.ipam.allocations().values()];
      assert.deepEqual(more, []);
      assert.equal(allocated!.address, address);
      assert.equal(allocated!.attachment, 'c3/eth0');
      assert.equal(allocated!.pod.name, 'p3');
      assert.deepEqual(node.ipam.podAddresses('c4/eth0'), []);
    });

    it('gives an attachment that asks again what it has', async () => {
      const node = await started();
      const address = addressOf(await node.add('p0', 'c0'));
      assert.equal(addressOf(await node.add('p0', 'c0')), address);
      assert.equal(node.ipam.allocations().size, 1);
    });

    it('never gives one address to two containers of a pod', async () => {
      const node = await started();
      const address = addressOf(await node.add('p0', 'c0'));
      const again = await node.add('p0', 'd0');
      if (!again.error) assert.notEqual(addressOf(again), address);
      assert.deepEqual(node.ipam.podAddresses('c0/eth0'), [address]);
      await node.del('p0', 'c0');
      await node.del('p0', 'd0');
      assert.equal(node.ipam.allocations().size, 0);
      addressOf(await node.add('p0', 'e0'));
    });

    it('takes nothing for a pod that could not be wired', async () => {
      const node = await started();
      node.rejects = () => true;
      assert.ok((await node.add('p0', 'c0')).error);
      assert.equal(node.ipam.allocations().size, 0);
      assert.deepEqual(node.ipam.podAddresses('c0/eth0'), []);
      node.rejects = () => false;
      addressOf(await node.add('p0', 'c0'));
    });

    it('refuses by a coded error the pod that it has nothing for, and leaves the others alone', async () => {
      const node = await started();
      const given = await fill(node);
      const { error } = await node.add('one-too-many', 'c99');
      assert.ok(error instanceof CodedError);
      assert.notEqual(error.code, 'CV_LOOP_FATAL');
      assert.match(error.message, /default\/one-too-many/);
      assert.equal(node.ipam.allocations().size, PODS);
      assert.deepEqual(
        given.map((_, n) => node.ipam.podAddresses(`c${n}/eth0`)[0]),
        given,
      );
    });

    it('releases an address with DEL, once, for any caller', async () => {
      const node = await started();
      await node.add('p0', 'c0');
      for (let n = 0; n < 2; n++) assert.equal((await node.del('p0', 'c0')).error, undefined);
      assert.equal((await node.del('p7', 'unknown')).error, undefined);
      assert.equal(node.ipam.allocations().size, 0);
    });

    it('remembers across a restart what running pods have', async () => {
      const node = await started();
      const given = await fill(node);
      await node.del('p5', 'c5');
      const next = node.restart();
      await next.resync();
      given.forEach((address, n) => {
        assert.deepEqual(next.ipam.podAddresses(`c${n}/eth0`), n === 5 ? [] : [address], `p${n}`);
      });
      assert.deepEqual(sorted(next.config), sorted(node.config));
    });

    it('is in sync: a resync changes neither its data nor the configuration', async () => {
      const node = await started();
      for (const n of [0, 1, 2]) await node.add(`p${n}`, `c${n}`);
      await node.del('p1', 'c1');
      const data = () =>
        (node.ipam as { describeInternalData?(): string }).describeInternalData?.();
      const before = [data(), sorted(node.config)];
      await node.heal();
      assert.deepEqual([data(), sorted(node.config)], before);
    });

    it('holds all of this in any order of pods that come, go, fail, and agents that restart', async () => {
      const action = fc.record({
        what: fc.constantFrom('add', 'add', 'add', 'del', 'fail', 'resync', 'restart'),
        pod: fc.nat({ max: PODS - 1 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(action, { maxLength: 25 }), async (actions) => {
          let node = await started();
          const wired = new Map<string, string>();
          for (const { what, pod } of actions) {
            const [name, container] = [`p${pod}`, `c${pod}`];
            if (what === 'add') wired.set(container, addressOf(await node.add(name, container)));
            else if (what === 'del') {
              await node.del(name, container);
              wired.delete(container);
            } else if (what === 'fail' && !wired.has(container)) {
              node.rejects = () => true;
              assert.ok((await node.add(name, container)).error);
              node.rejects = () => false;
            } else if (what === 'resync') await node.resync();
            else if (what === 'restart') {
              node = node.restart();
              await node.resync();
            }
            assert.equal(new Set(wired.values()).size, wired.size, 'an address twice');
            for (const [id, address] of wired)
              assert.deepEqual(node.ipam.podAddresses(`${id}/eth0`), [address]);
            assert.equal(node.ipam.allocations().size, wired.size);
          }
        }),
        { numRuns: 40 },
      );
    });
  });
}
