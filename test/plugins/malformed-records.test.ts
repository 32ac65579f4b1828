/** Fuzzing of the core handlers with malformed records in the database. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { endpointsModel } from '#kubernetes/models/endpoints.ts';
import { nodeModel } from '#kubernetes/models/node.ts';
import { nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { podModel } from '#kubernetes/models/pod.ts';
import { serviceModel } from '#kubernetes/models/service.ts';
import { vppNodeModel } from '#kubernetes/models/vpp-node.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { DNat44 } from '#models/vpp/dnat44.ts';
import { validateDnat } from '#vpp/descriptors/nat44/validate-dnat.ts';
import { fakeVppWithNics } from './ipv4net/vpp-with.ts';
import { somePolicy } from './policy/random-objects.ts';
import { type KubeValue, nodeValue, sorted, TestNode } from './test-node.ts';

const INTERCONNECT = 'nodeInterconnectCIDR: 192.168.16.0/24';
const plans = [
  `ipamConfig: {${INTERCONNECT}}`,
  `nodeToNodeTransport: nooverlay\nipamConfig: {${INTERCONNECT}}`,
  `ipamConfig: {useExternalIPAM: true, ${INTERCONNECT}}`,
  'ipamConfig: {contivCIDR: 10.0.0.0/14}',
  'ipamConfig: {contivCIDR: "fd00::/64", nodeInterconnectCIDR: "fd05::/64", serviceCIDR: "fd03::/64"}',
];

/** Addresses that conflict with managed ones, invalid addresses, and other texts. */
const text = fc.constantFrom(
  ...['', 'x', 'node-a', 'node-b', 'Gig1', 'a/b', '../..', '__proto__', '\u0000', '1e3'],
  ...['10.1.1.5', '10.1.1.1', '10.1.2.5', ' 10.1.1.5 ', '10.1.1.5/33', '10.1.0.0/16'],
  ...['192.168.16.1/24', '192.168.16.2/24', '192.168.16.3', '172.16.0.5', '172.16.0.6'],
  ...['0.0.0.0', '0.0.0.0/0', '255.255.255.255/32', '224.0.0.1/4', '127.0.0.1/8'],
  ...['::', '::/0', '::1/128', 'fd00::5', 'fd00:0:0:2::5/64', '::ffff:10.1.1.1', 'fe80::1/64'],
);
const texts = fc.array(text, { maxLength: 3 });
/** Often a reachable address, so that other errors of the record have an effect. */
const address = fc.oneof(text, fc.constantFrom('192.168.16.2/24', '10.3.128.9/23', 'fd05::2/64'));
const addresses = fc.array(address, { maxLength: 3 });
const podCidr = fc.oneof(
  text,
  fc.constantFrom('10.1.70.0/24', '10.1.70.0/31', '10.1.70.1/32', 'fd00::/64'),
);
const nodeName = fc.constantFrom('node-b', 'node-c', 'node-a', 'x');
const flag = fc.boolean();
/** IDs at the limits of the address plans. */
const id = fc.constantFrom(2, 3, 255, 256, 257, 512, 4294967295);
const nic = fc.record({ interface_name: text, ip: text, use_dhcp: flag });
const nodeType = fc.constantFrom('NodeInternalIP' as const, 'NodeExternalIP' as const);

const vppNode = fc
  .tuple(id, fc.record({ name: nodeName, ip_address: text, ip_addresses: addresses }))
  .map(([number, value]): KubeValue => {
    const key = resources.vppnode.key(String(number), '');
    return { resource: 'vppnode', key, value: vppNodeModel.canonical({ id: number, ...value }) };
  });
const kubeNode = fc
  .record({
    name: fc.constantFrom('node-a', 'node-b', 'node-c'),
    pod_CIDR: podCidr,
    addresses: fc.array(fc.record({ type: nodeType, address: text }), { maxLength: 3 }),
  })
  .map((value): KubeValue => {
    const key = resources.node.key(value.name, '');
    return { resource: 'node', key, value: nodeModel.canonical(value) };
  });
const pod = fc
  .tuple(
    fc.constantFrom('p1', 'p2'),
    fc.record({
      name: text,
      namespace: text,
      ip_address: text,
      host_ip_address: text,
      ip_addresses: texts,
    }),
  )
  .map(([name, value]): KubeValue => {
    const key = resources.pod.key(name, 'default');
    return { resource: 'pod', key, value: podModel.canonical(value) };
  });
const nodeConfig = fc
  .record({
    gateway: text,
    main_vpp_interface: nic,
    other_vpp_interfaces: fc.array(nic, { maxLength: 2 }),
  })
  .map((value): KubeValue => {
    const canonical = nodeConfigModel.canonical({ node_name: 'node-a', ...value });
    return {
      resource: 'nodeconfig',
      key: resources.nodeconfig.key('node-a', ''),
      value: canonical,
    };
  });

/** Few, so that services and endpoints meet, and services conflict. */
const serviceName = fc.constantFrom('s1', 's2', 's'.repeat(63));
const protocol = fc.constantFrom('TCP', 'UDP', 'SCTP', 'tcp', '', 'x');
const portNumber = fc.constantFrom(-1, 0, 1, 80, 4789, 30_080, 65_535, 65_536, 2_147_483_647);
const portName = fc.constantFrom('', 'http', '__proto__', ' ');
const serviceAddress = fc.oneof(text, fc.constantFrom('10.96.0.10', 'None', '198.51.100.7'));
const serviceAddresses = fc.array(serviceAddress, { maxLength: 3 });
const service = fc
  .tuple(
    serviceName,
    fc.record({
      cluster_ip: serviceAddress,
      cluster_ips: serviceAddresses,
      external_ips: serviceAddresses,
      lb_ingress_ips: serviceAddresses,
      lb_proxy_ips: serviceAddresses,
      service_type: fc.constantFrom('ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName', 'x'),
      session_affinity: fc.constantFrom('ClientIP', 'None', ''),
      session_affinity_timeout: fc.constantFrom(0, 1, 4_294_967_295),
      external_traffic_policy: fc.constantFrom('Local', 'Cluster', 'x'),
      internal_traffic_policy: fc.constantFrom('Local', 'Cluster', 'x'),
      health_check_node_port: portNumber,
      creation_timestamp: text,
      port: fc.array(
        fc.record({ name: portName, protocol, port: portNumber, node_port: portNumber }),
        { maxLength: 3 },
      ),
    }),
  )
  .map(([name, value]): KubeValue => {
    const key = resources.service.key(name, 'default');
    const names = { name, namespace: 'default' };
    return { resource: 'service', key, value: serviceModel.canonical({ ...value, ...names }) };
  });
const endpointAddress = fc.record({
  ip: text,
  node_name: fc.oneof(nodeName, fc.constant('')),
  serving_while_terminating: flag,
});
const endpoints = fc
  .tuple(
    serviceName,
    fc.array(
      fc.record({
        addresses: fc.array(endpointAddress, { maxLength: 4 }),
        not_ready_addresses: fc.array(endpointAddress, { maxLength: 2 }),
        ports: fc.array(fc.record({ name: portName, protocol, port: portNumber }), {
          maxLength: 3,
        }),
      }),
      { maxLength: 2 },
    ),
  )
  .map(([name, endpoint_subsets]): KubeValue => {
    const key = resources.endpoints.key(name, 'default');
    const value = endpointsModel.canonical({ name, namespace: 'default', endpoint_subsets });
    return { resource: 'endpoints', key, value };
  });

const networkPolicy = somePolicy.map((value): KubeValue => {
  const key = resources.policy.key(value.name, 'default');
  return { resource: 'policy', key, value: { ...value, namespace: 'default' } };
});

const change = fc.record({
  what: fc.oneof(vppNode, kubeNode, pod, nodeConfig, service, endpoints, networkPolicy),
  goes: flag,
});

const DNAT = 'config/vpp/nat/v2/dnat44/';

/** VPP accepts all mappings of services, and each address, port and protocol has one of them. */
function assertMappings(config: ReadonlyMap<string, unknown>): void {
  const owners = new Map<string, string>();
  for (const [key, value] of config) {
    if (!key.startsWith(DNAT)) continue;
    const dnat = value as DNat44;
    validateDnat(key, dnat);
    for (const { external_ip, external_port, protocol: number } of dnat.st_mappings) {
      const end = `${number} ${external_ip} ${external_port}`;
      assert.equal(owners.get(end), undefined, end);
      owners.set(end, key);
    }
  }
}

describe('malformed records in the database', () => {
  it('fail no event, remove nothing of this node, and need no change in a resync', async () => {
    const run = async (plan: string, changes: { what: KubeValue; goes: boolean }[]) => {
      const yaml = `mtuSize: 1400\ncrdNodeConfigurationDisabled: false\n${plan}`;
      const node = new TestNode({ yaml, vpp: fakeVppWithNics('Gig1', 'Gig2') });
      const known = ['node-a', 'node-b', 'node-c'].map((name, at) =>
        nodeValue(name, `172.16.0.${at + 5}`),
      );
      assert.equal((await node.resync(known)).error, undefined);
      // policies have an effect only with a pod of this node
      await node.add('p1', 'c1');
      for (const { what, goes } of changes) {
        assert.equal((await node.put(what)).error, undefined);
        if (goes) assert.equal((await node.remove(what)).error, undefined);
      }
      const built = sorted(node.config);
      for (const own of ['interfaces/tap-vpp2', 'interfaces/podGwLoop', 'vrf-table/id/1'])
        assert.ok(
          built.some(([key]) => key.includes(own)),
          own,
        );
      assertMappings(node.config);
      const data = node.handlers.map((handler) => handler.describeInternalData?.());
      assert.equal((await node.heal()).error, undefined);
      assert.deepEqual(sorted(node.config), built);
      assert.deepEqual(
        node.handlers.map((handler) => handler.describeInternalData?.()),
        data,
      );
    };
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...plans), fc.array(change, { maxLength: 12 }), run),
      { numRuns: 300 },
    );
  });
});
