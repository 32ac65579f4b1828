/** No packet of a pod circulates between the VRFs, whatever address it is for. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterSnapshot } from '#packet-trace/cluster.ts';
import { traceText } from '#packet-trace/trace-text.ts';
import { tracePacket } from '#packet-trace/tracer.ts';
import { FakeStn } from '../fake-ports.ts';
import { addressOf, nodeValue, TestNode, vppNodeValue } from '../test-node.ts';
import { fakeVppWithNics } from './vpp-with.ts';
import { startedNode } from './wired-node.ts';

const NETWORK = 'ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}';

async function withStn(yaml: string): Promise<TestNode> {
  const stn = new FakeStn();
  stn.stolen.set('eth1', {
    pciAddress: '0000:0b:00.0',
    kernelDriver: 'e1000',
    addresses: ['10.20.0.5/24'],
    routes: [{ destination: '', gateway: '10.20.0.1' }],
  });
  const node = new TestNode({
    yaml: `stealInterface: eth1\n${yaml}`,
    stn,
    vpp: fakeVppWithNics('Gig1'),
  });
  node.host.hostLinks = [{ name: 'vpp1', mtu: 1450, addresses: ['10.20.0.5/24'] }];
  const { error } = await node.resync([
    nodeValue('node-a', '10.20.0.5'),
    vppNodeValue(2, 'node-b', '10.20.0.6/24'),
    nodeValue('node-b', '10.20.0.6'),
  ]);
  assert.equal(error, undefined);
  return node;
}

const transports = { vxlan: '', nooverlay: 'nodeToNodeTransport: nooverlay\n' };
const nodes = Object.entries(transports).flatMap(([transport, yaml]) => [
  [transport, () => startedNode({ yaml: `${yaml}${NETWORK}` })] as const,
  [`${transport}, with STN`, () => withStn(yaml)] as const,
]);

/** Used and unused ones of each network that the agent configures routes for. */
const destinations = [
  ...['10.1.1.1', '10.1.1.77', '10.1.1.254', '10.1.2.77', '10.1.2.254', '10.1.3.9'],
  ...['172.30.1.1', '172.30.1.2', '172.30.1.9', '172.30.2.2', '172.30.3.9'],
  ...['192.168.30.1', '192.168.30.2', '192.168.30.9', '10.96.0.1'],
  ...['192.168.16.1', '192.168.16.9', '172.16.0.5', '172.16.0.9', '10.20.0.5', '10.20.0.9'],
  ...['169.254.254.249', '169.254.254.250', '169.254.254.253', '169.254.254.254', '8.8.8.8'],
];

describe('packets of a pod', () => {
  for (const [name, start] of nodes)
    it(`do not circulate: ${name}`, async () => {
      const node = await start();
      const source = addressOf(await node.add('web', 'c1'));
      const snapshot = clusterSnapshot({
        nodes: [{ name: 'node-a', values: node.config, hostAddresses: [] }],
        others: [],
      });
      for (const destination of destinations) {
        const packet = { source, destination, protocol: 'ICMP' as const };
        const text = traceText(tracePacket(snapshot, 'node-a//run/netns/c1', packet));
        assert.doesNotMatch(text, /forwarding loop/, destination);
        assert.match(text, /enters by vpp-tap-c1/);
      }
    });
});
