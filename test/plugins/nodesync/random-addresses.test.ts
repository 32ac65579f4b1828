/** Records of nodes with addresses that belong to others, in any order: no update differs from a resync. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { VXLAN_BVI } from '#plugins/ipv4net/names.ts';
import { endpointsValue, serviceValue } from '../service/service-values.ts';
import { nodeValue, sorted, TestNode, vppNodeValue } from '../test-node.ts';

const YAML = `
ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}
nodeConfig: [{nodeName: node-a, gateway: 192.168.16.100}]
`;
/** Of this node and its networks. */
const own = [
  '192.168.16.1',
  '172.16.0.5',
  '192.168.16.100',
  '10.1.2.3',
  '10.96.0.10',
  '172.30.1.2',
];
const invalid = ['fe80::1', '0.0.0.0', 'rubbish', '192.168.16.22'];
const others = ['172.16.0.6', '172.16.0.7', '192.168.16.2', '192.168.16.3'];
const names = ['node-b', 'node-c', 'node-d', 'Node-C'];

const someName = fc.nat(names.length - 1);
const someAddress = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...others) },
  { weight: 1, arbitrary: fc.constantFrom(...own, ...invalid) },
);
const someAddresses = fc.uniqueArray(someAddress, { maxLength: 4 });
const someStep = fc.oneof(
  fc.record({ kube: fc.constantFrom('node-a', ...names), addresses: someAddresses }),
  fc.record({ vpp: someName, addresses: someAddresses }),
  fc.record({ kubeLeft: fc.constantFrom('node-a', ...names) }),
  fc.record({ vppLeft: someName }),
);

const withLength = (address: string) => (address === '192.168.16.22' ? address : `${address}/24`);

async function take(
  node: TestNode,
  step: typeof someStep extends fc.Arbitrary<infer T> ? T : never,
) {
  if ('kube' in step) return node.put(nodeValue(step.kube, ...step.addresses));
  if ('kubeLeft' in step) return node.remove(nodeValue(step.kubeLeft));
  const index = 'vpp' in step ? step.vpp : step.vppLeft;
  const addresses = 'vpp' in step ? step.addresses.map(withLength) : [];
  const value = vppNodeValue(index + 2, names[index]!, ...addresses);
  return 'vpp' in step ? node.put(value) : node.remove(value);
}

/** Everything that follows from the records, with the problems. */
const stateOf = (node: TestNode) => ({
  config: sorted(node.config),
  nodes: names.map((name) => [name, [...node.net.nodeProblems().of(name)].sort()]),
  own: [...node.net.nodeProblems().of('node-a')].sort(),
  errors: node.nodes.problems!().map(({ message }) => message),
  services: [...node.services.renderedServices()],
});

/** Destinations that lead into the overlay, without prefix length. */
const overlayDestinations = (node: TestNode) =>
  [...node.config.values()].flatMap((value) => {
    const { dst_network, outgoing_interface, via_vrf_id } = value as Record<string, unknown>;
    const isInto = outgoing_interface === VXLAN_BVI || via_vrf_id === 1;
    return isInto ? [String(dst_network).split('/')[0]] : [];
  });

it('no order of records moves a tunnel, cuts off this node, or differs from a resync', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someStep, { minLength: 1, maxLength: 12 }), async (steps) => {
      const node = new TestNode({ yaml: YAML });
      const endpoints = endpointsValue('web', [
        { ip: '172.16.0.6', node: '' },
        { ip: '192.168.16.3', node: '' },
      ]);
      await node.resync([
        nodeValue('node-a', '172.16.0.5'),
        vppNodeValue(1, 'node-a', '192.168.16.1/24'),
        ...[2, 3, 4].flatMap((id) => [
          nodeValue(names[id - 2]!, `172.16.1.${id}`),
          vppNodeValue(id, names[id - 2]!, `192.168.16.1${id}/24`),
        ]),
        serviceValue('web', '10.96.0.10'),
        endpoints,
      ]);
      for (const step of steps) assert.equal((await take(node, step)).error, undefined);
      const routed = overlayDestinations(node);
      const ends = [...node.nodes.allNodes().values()].flatMap(({ name, vppAddresses }) =>
        vppAddresses.map((address) => [address.split('/')[0]!, name] as const),
      );
      for (const address of own) assert.ok(!routed.includes(address), address);
      for (const [address, name] of ends) {
        const claims = [...node.nodes.allNodes().values()].filter(({ managementAddresses }) =>
          managementAddresses.includes(address),
        );
        const isOnlyItsOwn = claims.every((one) => one.name === name);
        assert.ok(isOnlyItsOwn || !routed.includes(address), `${address} of ${name}`);
      }
      const state = stateOf(node);
      const next = node.restart();
      assert.equal((await next.resync(node.state())).error, undefined);
      assert.deepEqual(state, stateOf(next));
    }),
    { numRuns: 150 },
  );
});
