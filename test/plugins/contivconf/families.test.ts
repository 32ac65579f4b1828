/** Networks of one family or of both: what is accepted, and which key a contradiction names. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ConfigError, parseConfig } from '#infra/config/load.ts';
import { podFamilies } from '#plugins/contivconf/api.ts';
import { contivConfigSchema } from '#plugins/contivconf/config.ts';
import { checkContivConfig } from '#plugins/contivconf/config-check.ts';
import { ipamConfig } from '#plugins/contivconf/global-settings.ts';
import { clusterSubnets, whyNoAddresses } from '#plugins/ipam/subnets.ts';

type Family = 4 | 6;
type Keys = Readonly<Record<string, string | number>>;

const networks = {
  podSubnetCIDR: { 4: '10.1.0.0/16', 6: 'fd01::/48' },
  vppHostSubnetCIDR: { 4: '172.30.0.0/16', 6: 'fd02::/48' },
  vxlanCIDR: { 4: '192.168.30.0/24', 6: 'fd04::/64' },
  serviceCIDR: { 4: '10.96.0.0/12', 6: 'fd05::/108' },
  nodeInterconnectCIDR: { 4: '192.168.16.0/24', 6: 'fd16::/64' },
} as const;
type Key = keyof typeof networks;

function listOf(key: Key, families: readonly Family[], comma = ','): string {
  return families.map((family) => networks[key][family]).join(comma);
}

function read(ipam: Keys, more = '') {
  const yaml = `${more}\nipamConfig: ${JSON.stringify(ipam)}`;
  return checkContivConfig(parseConfig(contivConfigSchema, yaml, 'contiv.conf'), 'node-a');
}

/** All keys with networks of these families, in the order of the pods. */
function complete(families: readonly Family[]): Record<string, string | number> {
  const lengths =
    families[0] === 6 ? { podSubnetOneNodePrefixLen: 64, vppHostSubnetOneNodePrefixLen: 64 } : {};
  const all = (Object.keys(networks) as Key[]).map((key) => [key, listOf(key, families)] as const);
  return { ...Object.fromEntries(all), ...lengths };
}

const both = [
  [4, 6],
  [6, 4],
] as const;
const anyOrder = fc.constantFrom<readonly Family[]>([4], [6], ...both);
const orderOf = (families: readonly Family[]) =>
  families.length === 1
    ? fc.constant(families)
    : fc.constantFrom<readonly Family[]>([4, 6], [6, 4]);

describe('networks of one family or of both', () => {
  it('are accepted in any order, and each node has addresses in all of them', () => {
    const configuration = anyOrder.chain((pods) =>
      fc.record({
        pods: fc.constant(pods),
        vppHost: orderOf(pods),
        vxlan: orderOf(pods),
        services: fc.constantFrom<readonly Family[]>(pods, [pods[0]!], [...pods].reverse()),
        nodes: fc.constantFrom<readonly Family[]>([], [4], [6], [4, 6], [6, 4]),
        comma: fc.constantFrom(',', ', ', ' , '),
        lengths: fc.record(
          {
            podSubnetOneNodePrefixLenIPv4: fc.integer({ min: 20, max: 28 }),
            podSubnetOneNodePrefixLenIPv6: fc.integer({ min: 56, max: 120 }),
            vppHostSubnetOneNodePrefixLenIPv4: fc.integer({ min: 24, max: 30 }),
            vppHostSubnetOneNodePrefixLenIPv6: fc.integer({ min: 64, max: 126 }),
          },
          { requiredKeys: [] },
        ),
        nodeId: fc.integer({ min: 1, max: 15 }),
      }),
    );
    fc.assert(
      fc.property(configuration, ({ pods, vppHost, vxlan, services, nodes, comma, ...given }) => {
        const ipam = {
          ...complete(pods),
          podSubnetCIDR: listOf('podSubnetCIDR', pods, comma),
          vppHostSubnetCIDR: listOf('vppHostSubnetCIDR', vppHost, comma),
          vxlanCIDR: listOf('vxlanCIDR', vxlan, comma),
          serviceCIDR: listOf('serviceCIDR', services, comma),
          nodeInterconnectCIDR: listOf('nodeInterconnectCIDR', nodes, comma),
          ...given.lengths,
        };
        const { config, warnings } = read(ipam);
        assert.deepEqual(warnings, []);
        assert.deepEqual(podFamilies(config), pods);
        const cluster = clusterSubnets(ipamConfig(config));
        assert.deepEqual(
          cluster.families.map(({ family }) => family),
          pods,
        );
        for (const one of cluster.families)
          for (const network of [one.pods, one.vppHost]) assert.equal(network.family, one.family);
        assert.deepEqual(
          cluster.families.flatMap(({ services: found }) => (found ? [found.family] : [])),
          pods.filter((family) => services.includes(family)),
        );
        assert.equal(whyNoAddresses(cluster, given.nodeId, []), undefined);
      }),
    );
  });

  it('mean with one network what they always meant', () => {
    const { config } = read({ podSubnetOneNodePrefixLen: 26 });
    const { families, nodes, vxlan } = clusterSubnets(ipamConfig(config));
    const [{ podsOneNode, vppHostOneNode }, ...more] = families;
    assert.deepEqual([podsOneNode, vppHostOneNode, more, nodes], [26, 24, [], []]);
    assert.equal(vxlan.length, 1);
  });

  it('of the second family are divided as Kubernetes does, unless a key says otherwise', () => {
    const lengths = (ipam: Keys) =>
      clusterSubnets(ipamConfig(read(ipam).config)).families.map(({ podsOneNode }) => podsOneNode);
    assert.deepEqual(lengths(complete([4, 6])), [24, 64]);
    assert.deepEqual(lengths(complete([6, 4])), [64, 24]);
    assert.deepEqual(lengths({ ...complete([4, 6]), podSubnetOneNodePrefixLenIPv6: 80 }), [24, 80]);
    // the key of a family precedes that of the first one
    assert.deepEqual(lengths({ ...complete([6, 4]), podSubnetOneNodePrefixLenIPv6: 72 }), [72, 24]);
  });

  it('divide two super-nets alike', () => {
    const { config } = read({ contivCIDR: '10.128.0.0/14,fd00::/64', serviceCIDR: '10.96.0.0/12' });
    const { families, nodes, vxlan } = clusterSubnets(ipamConfig(config));
    assert.deepEqual(
      families.map(({ podsOneNode }) => podsOneNode),
      [25, 121],
    );
    assert.deepEqual([nodes.length, vxlan.length], [2, 2]);
  });

  it('that contradict each other are refused with their key', () => {
    const dual = complete([4, 6]);
    const refused: [Keys, RegExp, string?][] = [
      [
        { ...dual, podSubnetCIDR: '10.1.0.0/16,10.2.0.0/16' },
        /^contiv.conf:2: ipamConfig.podSubnetCIDR: .* has two networks of IPv4/,
      ],
      [
        { ...dual, podSubnetCIDR: '10.1.0.0/16,fd01::/48,10.2.0.0/16' },
        /ipamConfig.podSubnetCIDR: .* has 3 networks/,
      ],
      [{ ...dual, podSubnetCIDR: '10.1.0.0/16,fd01::' }, /podSubnetCIDR: "fd01::" is not a CIDR/],
      [
        { ...complete([4]), serviceCIDR: listOf('serviceCIDR', [4, 6]) },
        /ipamConfig.serviceCIDR: fd05::\/108 is not IPv4, but the pod subnet 10.1.0.0\/16 is/,
      ],
      [
        { ...dual, serviceCIDR: 'fd05::/108' },
        /ipamConfig.serviceCIDR: fd05::\/108 has no network of IPv4, but the pod subnet 10.1/,
      ],
      [
        { ...dual, vppHostSubnetCIDR: '172.30.0.0/16' },
        /ipamConfig.vppHostSubnetCIDR: 172.30.0.0\/16 has no network of IPv6/,
      ],
      [
        { ...dual, vxlanCIDR: '192.168.30.0/24' },
        /ipamConfig.vxlanCIDR: 192.168.30.0\/24 has no network of IPv6/,
      ],
      [
        { ...dual, vxlanCIDR: '192.168.30.0/24,fd01:0:0:5::/64' },
        /ipamConfig.vxlanCIDR: fd01:0:0:5::\/64 overlaps with ipamConfig.podSubnetCIDR fd01::\/48/,
      ],
      [
        { ...dual, podSubnetOneNodePrefixLenIPv6: 40 },
        /podSubnetOneNodePrefixLenIPv6: 40 does not divide podSubnetCIDR fd01::\/48/,
      ],
      [
        { ...dual, vppHostSubnetOneNodePrefixLenIPv6: 127 },
        /vppHostSubnetOneNodePrefixLenIPv6: 127 does not divide vppHostSubnetCIDR/,
      ],
      [dual, /mtuSize: 1000 is too small: the minimum is 1280 with IPv6/, 'mtuSize: 1000'],
    ];
    for (const [ipam, message, more] of refused)
      assert.throws(
        () => read(ipam, more),
        (error: unknown) => {
          assert.ok(error instanceof ConfigError);
          assert.equal(error.code, 'CV_CONFIG_INVALID');
          assert.match(error.message, message);
          return true;
        },
      );
  });

  it('that overlap are a warning where they always were', () => {
    const { warnings } = read({ vxlanCIDR: '10.1.9.0/24' });
    assert.equal(warnings.length, 1);
    const inServices = { ...complete([4, 6]), nodeInterconnectCIDR: '10.100.0.0/24,fd16::/64' };
    assert.match(read(inServices).warnings.join(), /nodeInterconnectCIDR: 10.100.0.0\/24 overlaps/);
  });

  it('without an overlay need no network of VXLAN', () => {
    const { vxlanCIDR: _, ...rest } = complete([6, 4]);
    assert.deepEqual(read(rest, 'nodeToNodeTransport: nooverlay').warnings, []);
  });
});
