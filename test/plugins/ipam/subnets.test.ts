import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { IpamConfig } from '#plugins/contivconf/api.ts';
import {
  AddressPlanError,
  addressBits,
  addressText,
  parseAddress,
  parsePrefix,
  prefixText,
  subnet,
} from '#plugins/ipam/prefix.ts';
import {
  clusterSubnets,
  hostLink,
  natLoopback,
  nodeAddresses,
  nodeIdOfPodAddress,
  podGateway,
  podSubnetOfNode,
  vppHostSubnetOfNode,
  vxlanAddress,
} from '#plugins/ipam/subnets.ts';

const defaults: IpamConfig = {
  useExternalIpam: false,
  contivCidr: '',
  serviceCidr: '10.96.0.0/12',
  nodeInterconnectDhcp: false,
  nodeInterconnectCidr: '192.168.16.0/24',
  podSubnetCidr: '10.1.0.0/16',
  podSubnetOneNodePrefixLen: 24,
  podSubnetOneNodePrefixLenIpv4: 0,
  podSubnetOneNodePrefixLenIpv6: 0,
  vppHostSubnetCidr: '172.30.0.0/16',
  vppHostSubnetOneNodePrefixLen: 24,
  vppHostSubnetOneNodePrefixLenIpv4: 0,
  vppHostSubnetOneNodePrefixLenIpv6: 0,
  vxlanCidr: '192.168.30.0/24',
  defaultGateway: '',
};

describe('the address plan', () => {
  it('is that of the original by default', () => {
    const cluster = clusterSubnets(defaults);
    const pods = podSubnetOfNode(cluster.families[0], 1);
    assert.equal(prefixText(pods), '10.1.1.0/24');
    assert.equal(addressText(4, podGateway(pods)), '10.1.1.1');
    assert.equal(addressText(4, natLoopback(pods)), '10.1.1.254');
    const link = hostLink(vppHostSubnetOfNode(cluster.families[0], 1));
    assert.equal(addressText(4, link.vpp), '172.30.1.1');
    assert.equal(addressText(4, link.linux), '172.30.1.2');
    assert.deepEqual(nodeAddresses(cluster, 1, []), ['192.168.16.1/24']);
    assert.equal(vxlanAddress(cluster.vxlan[0]!, 7), '192.168.30.7/24');
  });

  it('gives the highest node ID network number 0, but no address among the nodes', () => {
    const cluster = clusterSubnets({
      ...defaults,
      podSubnetCidr: '1.4.1.0/24',
      podSubnetOneNodePrefixLen: 28,
      nodeInterconnectCidr: '3.4.5.192/28',
    });
    assert.equal(prefixText(podSubnetOfNode(cluster.families[0], 1)), '1.4.1.16/28');
    assert.equal(prefixText(podSubnetOfNode(cluster.families[0], 16)), '1.4.1.0/28');
    assert.throws(() => podSubnetOfNode(cluster.families[0], 17), AddressPlanError);
    assert.deepEqual(nodeAddresses(cluster, 15, []), ['3.4.5.207/28']);
    assert.throws(() => nodeAddresses(cluster, 16, []), AddressPlanError);
    assert.throws(() => nodeAddresses(cluster, 15, ['3.4.5.193']), /has no address for node 15/);
  });

  it('moves the addresses of the nodes past the gateway', () => {
    const cluster = clusterSubnets(defaults);
    assert.deepEqual(nodeAddresses(cluster, 4, ['192.168.16.5']), ['192.168.16.4/24']);
    assert.deepEqual(nodeAddresses(cluster, 5, ['192.168.16.5']), ['192.168.16.6/24']);
    assert.deepEqual(nodeAddresses(cluster, 5, ['192.168.16.1']), ['192.168.16.6/24']);
    assert.deepEqual(nodeAddresses(cluster, 5, ['fe80::1']), ['192.168.16.5/24']);
  });

  it('cuts one super-net up', () => {
    const cluster = clusterSubnets({
      ...defaults,
      contivCidr: '10.128.0.0/14',
      nodeInterconnectCidr: '',
    });
    assert.equal(prefixText(cluster.families[0].pods), '10.128.0.0/16');
    assert.equal(prefixText(cluster.families[0].vppHost), '10.129.0.0/16');
    assert.equal(prefixText(podSubnetOfNode(cluster.families[0], 3)), '10.128.1.128/25');
    assert.deepEqual(nodeAddresses(cluster, 1, []), ['10.130.0.1/23']);
    assert.equal(vxlanAddress(cluster.vxlan[0]!, 1), '10.130.2.1/23');
  });

  it('keeps an explicit network of the nodes beside the super-net, and none with DHCP', () => {
    const config = { ...defaults, contivCidr: '10.128.0.0/14' };
    assert.deepEqual(nodeAddresses(clusterSubnets(config), 1, []), ['192.168.16.1/24']);
    const dhcp = { ...config, nodeInterconnectCidr: '', nodeInterconnectDhcp: true };
    assert.deepEqual(nodeAddresses(clusterSubnets(dhcp), 1, []), []);
  });

  it('divides IPv6 alike', () => {
    const cluster = clusterSubnets({
      ...defaults,
      podSubnetCidr: 'fe10:f00d::/90',
      podSubnetOneNodePrefixLen: 120,
      vppHostSubnetCidr: 'fe30:f00d::/90',
      vppHostSubnetOneNodePrefixLen: 126,
      nodeInterconnectCidr: 'fe10:f00d::/90',
      vxlanCidr: 'fe20:f00d::/120',
    });
    assert.equal(prefixText(podSubnetOfNode(cluster.families[0], 5)), 'fe10:f00d::500/120');
    assert.equal(prefixText(vppHostSubnetOfNode(cluster.families[0], 5)), 'fe30:f00d::14/126');
    assert.deepEqual(nodeAddresses(cluster, 5, []), ['fe10:f00d::5/90']);
    assert.equal(vxlanAddress(cluster.vxlan[0]!, 5), 'fe20:f00d::5/120');
  });

  it('names the key that does not work out', () => {
    const refused: [Partial<IpamConfig>, RegExp][] = [
      [{ podSubnetCidr: '10.1.0.0' }, /^podSubnetCIDR: "10.1.0.0" is not a network/],
      [
        { podSubnetOneNodePrefixLen: 16 },
        /^podSubnetOneNodePrefixLen: 10.1.0.0\/16 cannot be divided/,
      ],
      [
        { podSubnetOneNodePrefixLen: 30 },
        /^podSubnetOneNodePrefixLen: leaves no addresses for pods/,
      ],
      [
        { vppHostSubnetOneNodePrefixLen: 31 },
        /^vppHostSubnetOneNodePrefixLen: leaves no addresses/,
      ],
      [{ contivCidr: '10.0.0.0/15' }, /^contivCIDR: 10.0.0.0\/15 is too small/],
      [{ vxlanCidr: '300.1.1.0/24' }, /^vxlanCIDR/],
      [{ vxlanCidr: '10.1.1.0/024' }, /^vxlanCIDR/],
    ];
    for (const [change, message] of refused)
      assert.throws(
        () => clusterSubnets({ ...defaults, ...change }),
        (error: Error) => error instanceof AddressPlanError && message.test(error.message),
      );
  });
});

/** The same arithmetic on text of bits. */
function bitsOf(address: string): string {
  const parsed = parseAddress(address)!;
  return parsed.value.toString(2).padStart(addressBits(parsed.family), '0');
}

const anyPrefix = fc
  .tuple(fc.constantFrom(4 as const, 6 as const), fc.bigInt(0n, (1n << 128n) - 1n))
  .chain(([family, seed]) =>
    fc.record({
      family: fc.constant(family),
      address: fc.constant(seed & ((1n << BigInt(addressBits(family))) - 1n)),
      length: fc.integer({ min: 0, max: addressBits(family) - 8 }),
    }),
  );

describe('arithmetic of networks', () => {
  it('prints what it parses', () => {
    fc.assert(
      fc.property(anyPrefix, ({ family, address }) => {
        const text = addressText(family, address);
        const back = parseAddress(text)!;
        assert.equal(back.value, address);
        // IPv6 that maps IPv4 is IPv4
        if (back.family === family) assert.equal(addressText(back.family, back.value), text);
      }),
    );
  });

  it('cuts networks as text of bits would be cut', () => {
    const cut = anyPrefix.chain((prefix) =>
      fc.record({
        prefix: fc.constant(prefix),
        newBits: fc.integer({
          min: 1,
          max: Math.min(8, addressBits(prefix.family) - prefix.length),
        }),
        index: fc.nat(255),
      }),
    );
    fc.assert(
      fc.property(cut, ({ prefix, newBits, index }) => {
        fc.pre(index < 2 ** newBits);
        const text = `${addressText(prefix.family, prefix.address)}/${prefix.length}`;
        fc.pre(parseAddress(text.split('/')[0]!)!.family === prefix.family);
        const base = parsePrefix(text, 'test');
        const part = subnet(base, prefix.length + newBits, BigInt(index), 'test');
        const expected =
          bitsOf(text.split('/')[0]!).slice(0, prefix.length) +
          index.toString(2).padStart(newBits, '0');
        const got = part.base.toString(2).padStart(addressBits(prefix.family), '0');
        assert.equal(got, expected.padEnd(addressBits(prefix.family), '0'));
        assert.equal(part.length, prefix.length + newBits);
      }),
    );
  });

  it('finds the node of every address of its pods, and of no other', () => {
    const cluster = clusterSubnets(defaults);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 256 }), fc.nat(255), (nodeId, offset) => {
        const pods = podSubnetOfNode(cluster.families[0], nodeId);
        const address = addressText(4, pods.base + BigInt(offset));
        assert.equal(nodeIdOfPodAddress(cluster, address), nodeId);
      }),
    );
    assert.equal(nodeIdOfPodAddress(cluster, '10.2.0.1'), undefined);
    assert.equal(nodeIdOfPodAddress(cluster, '::1'), undefined);
    assert.equal(nodeIdOfPodAddress(cluster, ''), undefined);
  });
});
