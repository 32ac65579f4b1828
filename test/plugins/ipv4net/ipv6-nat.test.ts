/** Settings and networks in which IPv6 leaves the cluster with the address of the node, and the problem when VPP cannot do it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeValue, sorted, TestNode } from '../test-node.ts';
import { fakeVppWithNics } from './vpp-with.ts';

const KEY = 'config/vpp/nat/v2/cnat-source-nat';
const CODE = 'CV_NET_IPV6_NAT_NOT_POSSIBLE';

interface Variant {
  /** Lines of contiv.conf. */
  readonly conf?: string;
  readonly podSubnet?: string;
  readonly gateway?: string;
  readonly hasCnat?: boolean;
}

async function started({
  conf = '',
  podSubnet = 'fd01::/48',
  gateway = 'fd03::fe',
  hasCnat = true,
}: Variant) {
  const vpp = fakeVppWithNics('Gig1');
  vpp.cnat = hasCnat;
  const yaml = `
${conf}
ipamConfig:
  podSubnetCIDR: ${podSubnet}
  podSubnetOneNodePrefixLen: 64
  vppHostSubnetCIDR: fd02::/48
  vppHostSubnetOneNodePrefixLen: 64
  nodeInterconnectCIDR: fd03::/64
  vxlanCIDR: fd04::/64
  serviceCIDR: fd05::/108
  defaultGateway: "${gateway}"
`;
  const node = new TestNode({ yaml, vpp });
  node.host.ipv6 = true;
  const { warnings } = await node.resync([nodeValue('node-a', 'fd09::5')]);
  const values = sorted(node.config);
  await node.heal();
  assert.deepEqual(sorted(node.config), values);
  return { node, vpp, warnings, translates: node.config.has(KEY) };
}

describe('source NAT of IPv6', () => {
  it('is for unique local addresses of pods, with the address of the main NIC', async () => {
    const { node, translates } = await started({});
    assert.ok(translates);
    assert.deepEqual(node.at(KEY), { interface: 'edgeLink', address: 'fd03::1' });
    assert.equal(node.net.natProblem(), undefined);
  });

  it('follows the configuration and the default gateway, without a problem', async () => {
    const cases: readonly (readonly [Variant, boolean])[] = [
      [{ podSubnet: '2001:db8:1::/48' }, false],
      [{ podSubnet: '2001:db8:1::/48', conf: 'natExternalTrafficIPv6: always' }, true],
      [{ conf: 'natExternalTrafficIPv6: never' }, false],
      [{ conf: 'natExternalTraffic: false' }, false],
      [{ conf: 'nodeToNodeTransport: nooverlay' }, false],
      [{ gateway: 'fe80::1' }, true],
      [{ gateway: 'fd07::1' }, false],
      [{ gateway: '' }, false],
    ];
    for (const [variant, expected] of cases) {
      const { node, translates, warnings } = await started(variant);
      const what = JSON.stringify(variant);
      assert.equal(translates, expected, what);
      assert.equal(node.net.natProblem(), undefined, what);
      assert.ok(!warnings.includes(CODE), what);
    }
  });

  it('is a problem where VPP cannot do it, until it can', async () => {
    const table = await started({ conf: 'mainVRFID: 2' });
    assert.match(table.node.net.natProblem() ?? '', /mainVRFID is 2/);
    assert.equal(table.translates, false);
    assert.ok(table.warnings.includes(CODE));
    const { node, vpp, translates, warnings } = await started({ hasCnat: false });
    assert.match(node.net.natProblem() ?? '', /^this release of VPP/);
    assert.equal(translates, false);
    assert.ok(warnings.includes(CODE));
    vpp.cnat = true;
    await node.heal();
    assert.ok(node.config.has(KEY));
    assert.equal(node.net.natProblem(), undefined);
  });
});
