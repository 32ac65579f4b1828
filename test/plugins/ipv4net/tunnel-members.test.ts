import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type BridgeDomain, bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { nodeValue, vppNodeValue } from '../test-node.ts';
import { startedNode } from './wired-node.ts';

const key = bridgeDomainModel.key(bridgeDomainModel.canonical({ name: 'vxlanBD' }));

it('a node that joins or leaves changes one member of the bridge domain', async () => {
  const others = [12, 2, 100, 7].flatMap((id) => [
    vppNodeValue(id, `node-${id}`, `192.168.16.${id}/24`),
    nodeValue(`node-${id}`, `172.16.0.${id}`),
  ]);
  const node = await startedNode({}, others);
  const domain = () => node.at<BridgeDomain>(key);
  const before = domain().interfaces;
  assert.equal(before.length, 5);
  const rebuilt = () => domain().interfaces.filter((one) => !before.includes(one));

  await node.put(vppNodeValue(30, 'node-30', '192.168.16.30/24'));
  await node.put(nodeValue('node-30', '172.16.0.30'));
  assert.deepEqual(
    rebuilt()
      .map(({ name }) => name)
      .sort(),
    ['vxlan-default-30', 'vxlanBVI'],
  );
  assert.deepEqual(domain(), bridgeDomainModel.canonical({ ...domain() }), 'canonical');

  await node.remove(vppNodeValue(7, 'node-7'));
  assert.equal(domain().interfaces.length, 5);
  await node.remove(vppNodeValue(30, 'node-30'));
  assert.deepEqual(
    rebuilt().map(({ name }) => name),
    ['vxlanBVI'],
  );
});
