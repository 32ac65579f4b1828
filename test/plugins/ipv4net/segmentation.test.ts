import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestNode } from '../test-node.ts';
import { fakeVppWithNics } from './vpp-with.ts';
import { keys, startedNode, VPP_IF } from './wired-node.ts';

const SEGMENTATION = 'config/vpp/gso/v2/interface/';
const usesGso = (node: TestNode, name: string): boolean =>
  node.at<{ tap: { enable_gso: boolean } }>(`${VPP_IF}${name}`).tap.enable_gso;

describe('segmentation of GSO packets', () => {
  it('is enabled on every NIC, and follows the configuration after a restart', async () => {
    const yaml = `
enableGSO: true
nodeConfig:
- nodeName: node-a
  mainVPPInterface: {interfaceName: host-eth1, ip: 192.168.16.1/24}
  otherVPPInterfaces: [{interfaceName: Gig2, ip: 10.9.0.1/24}]
`;
    const node = await startedNode({ yaml });
    assert.deepEqual(keys(node, SEGMENTATION), [`${SEGMENTATION}Gig2`, `${SEGMENTATION}host-eth1`]);
    assert.equal(usesGso(node, 'tap-vpp2'), true);
    const plain = await startedNode({ yaml: yaml.replace('enableGSO: true', '') });
    assert.deepEqual(keys(plain, SEGMENTATION), []);
    const veth = await startedNode({ yaml: `useTAPInterfaces: false\n${yaml}` });
    assert.deepEqual(keys(veth, SEGMENTATION), []);
    const encrypting = await startedNode({ yaml: `nodeToNodeTransport: wireguard\n${yaml}` });
    assert.deepEqual(keys(encrypting, SEGMENTATION), []);
    assert.equal(usesGso(encrypting, 'tap-vpp2'), false);
  });

  it('is not used, and no TAP has GSO, where VPP segments wrongly or does not report where it segments', async () => {
    const vpp = fakeVppWithNics('Gig1');
    const node = await startedNode({ yaml: 'enableGSO: true', vpp });
    await node.add('web', 'c1');
    for (const traits of [
      { variant: 'icl', isReported: true },
      { variant: 'default', isReported: false },
    ]) {
      vpp.segmentationTraits = traits;
      assert.deepEqual((await node.heal()).warnings, ['CV_NET_GSO_NOT_USABLE']);
      assert.deepEqual((await node.heal()).warnings, [], 'the log has it once');
      assert.deepEqual(keys(node, SEGMENTATION), []);
      for (const name of ['tap-vpp2', 'vpp-tap-c1']) assert.equal(usesGso(node, name), false);
      vpp.segmentationTraits = { variant: 'hsw', isReported: true };
      await node.heal();
      assert.deepEqual(keys(node, SEGMENTATION), [`${SEGMENTATION}Gig1`]);
    }
  });
});
