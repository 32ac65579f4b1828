/** A node whose wiring is looked at, and where its interfaces are in the configuration. */
import { nodeValue, TestNode, type TestNodeOptions, vppNodeValue } from '../test-node.ts';
import { fakeVppWithNics } from './vpp-with.ts';

const nodeB = [vppNodeValue(2, 'node-b', '192.168.16.2/24'), nodeValue('node-b', '172.16.0.6')];

/** Says an MTU, so that none is measured: that has tests of its own. */
export async function startedNode(
  options: TestNodeOptions = {},
  others = nodeB,
): Promise<TestNode> {
  const yaml = options.yaml ?? 'ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}';
  const fixed = yaml.includes('mtuSize') ? yaml : `mtuSize: 1400\n${yaml}`;
  const node = new TestNode({ vpp: fakeVppWithNics('Gig1', 'Gig2'), ...options, yaml: fixed });
  const { error } = await node.resync([nodeValue('node-a', '172.16.0.5'), ...others]);
  if (error) throw error;
  return node;
}

export const keys = (node: TestNode, part: string) =>
  [...node.config.keys()].filter((key) => key.includes(part)).sort();

export const VPP_IF = 'config/vpp/v2/interfaces/';
export const LINUX_IF = 'config/linux/interfaces/v2/interface/';
