/** Any sequence of changes leads to the values that a resync and a restart at its end put. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { endpointsModel } from '#kubernetes/models/endpoints.ts';
import { nodeModel } from '#kubernetes/models/node.ts';
import { podModel } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { NodeIpChange } from '#plugins/ipv4net/api.ts';
import { FakeHost } from '../fake-ports.ts';
import { startedNode } from '../ipv4net/wired-node.ts';
import { type KubeValue, nodeValue, sorted, type TestNode, vppNodeValue } from '../test-node.ts';
import { serviceValue } from './service-values.ts';

const STEPS = 80;
const RESTART_EVERY = 10;
const IPAM = 'ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24, defaultGateway: 192.168.16.100}';
const OTHER_NIC = 'otherVPPInterfaces: [{interfaceName: Gig2, ip: 203.0.113.51/24}]';
const configurations: Readonly<Record<string, string>> = {
  'an overlay': IPAM,
  'two NICs, and services for the host': `
natExternalTraffic: true
routeServiceCIDRToVPP: true
${IPAM}
nodeConfig: [{nodeName: node-a, mainVPPInterface: {interfaceName: Gig1, ip: 192.168.16.1/24}, ${OTHER_NIC}}]
`,
  'no overlay': `nodeToNodeTransport: nooverlay\nnatExternalTraffic: true\n${IPAM}`,
  'both families': `
ipamConfig:
  podSubnetCIDR: 10.1.0.0/16,fd01::/48
  podSubnetOneNodePrefixLenIPv6: 64
  vppHostSubnetCIDR: 172.30.0.0/16,fd02::/48
  vppHostSubnetOneNodePrefixLenIPv6: 64
  nodeInterconnectCIDR: 192.168.16.0/24,fd03::/64
  vxlanCIDR: 192.168.30.0/24,fd04::/64
  serviceCIDR: 10.96.0.0/12,fd05::/108
  defaultGateway: 192.168.16.100
`,
  DHCP: `
natExternalTraffic: true
nodeConfig: [{nodeName: node-a, mainVPPInterface: {interfaceName: Gig1, useDHCP: true}, ${OTHER_NIC}}]
`,
};

/** Of this node, of the host of node-b, of its VPP, of a NIC, and of none. */
const someAddresses = [
  '172.16.0.5',
  '192.168.16.1',
  '172.16.0.6',
  '192.168.16.2',
  '203.0.113.51',
  '203.0.113.50',
  'fd09::5',
  'fd03::1',
  'fd09::6',
  '2001:db8::7',
];
const names = ['a', 'b', 'c'];
const ports = [
  [{ name: 'http', protocol: 'TCP', port: 80, node_port: 30_080 }],
  [{ name: 'http', protocol: 'UDP', port: 80, node_port: 30_080 }],
  [
    { name: 'http', protocol: 'TCP', port: 80, node_port: 30_081 },
    { name: 'dns', protocol: 'UDP', port: 80, node_port: 30_081 },
  ],
];
const endpointPorts = [
  [{ name: 'http', port: 8080, protocol: 'TCP' }],
  [
    { name: 'http', port: 8081, protocol: 'UDP' },
    { name: 'dns', port: 53, protocol: 'UDP' },
  ],
];
const endpoints = [
  { ip: '10.1.1.2', node_name: 'node-a' },
  { ip: '10.1.1.3', node_name: 'node-a', for_zones: ['east'] },
  { ip: '10.1.2.2', node_name: 'node-b', for_zones: ['west'] },
  { ip: '172.16.0.5', node_name: 'node-a' },
  { ip: '172.16.0.6', node_name: '' },
  { ip: '192.168.16.2', node_name: '' },
  { ip: '172.16.0.7', node_name: 'node-c' },
  { ip: '198.51.100.5', node_name: '' },
  { ip: 'fd01:0:0:1::2', node_name: 'node-a' },
  { ip: 'fd01:0:0:2::2', node_name: 'node-b', for_zones: ['west'] },
  { ip: 'fd09::6', node_name: '' },
];

function nodeInZone(name: string, zone: string, addresses: readonly string[]): KubeValue {
  const value = nodeModel.canonical({
    name,
    zone,
    addresses: addresses.map((address) => ({ type: 'NodeInternalIP' as const, address })),
  });
  return { resource: 'node', key: resources.node.key(name, ''), value };
}

/** Changes of the objects of a cluster with the nodes a (this one), b and c. */
class RandomCluster {
  node: TestNode;
  readonly #random;
  readonly #useDhcp: boolean;

  constructor(node: TestNode, seed: number, useDhcp: boolean) {
    this.node = node;
    this.#random = seededRandom(seed);
    this.#useDhcp = useDhcp;
  }

  change() {
    const { node } = this;
    const name = this.#one(names);
    const container = `c${this.#below(2)}`;
    const id = 2 + this.#below(2);
    const other = id === 2 ? 'node-b' : 'node-c';
    const actions = [
      () => node.put(this.#service(name)),
      () => node.put(this.#service(name)),
      () => node.put(this.#endpoints(name)),
      () => node.put(this.#endpoints(name)),
      () => node.put(this.#pod(name)),
      () => node.put(this.#pod(name)),
      () => node.remove(this.#pod(name)),
      () => node.remove(this.#service(name)),
      () => node.remove(this.#endpoints(name)),
      () => node.add(container, container),
      () => node.del(container, container),
      () => this.#changeOwnNode(),
      () => node.put(nodeInZone(other, '', this.#some(someAddresses))),
      () => node.remove(nodeValue(other)),
      () =>
        node.put(
          vppNodeValue(
            id,
            other,
            ...this.#some(someAddresses).map((one) => `${one}/${one.includes(':') ? 64 : 24}`),
          ),
        ),
      () => node.remove(vppNodeValue(id, other)),
      ...(this.#useDhcp ? [() => this.#changeLease()] : []),
    ];
    return this.#one(actions)();
  }

  #service(name: string): KubeValue {
    const at = 10 + names.indexOf(name);
    const ips = this.#one([[`10.96.0.${at}`], [`10.96.0.${at}`, `fd05::${at}`], [`fd05::${at}`]]);
    return serviceValue(name, ips[0] ?? '', {
      cluster_ips: ips,
      service_type: this.#one(['ClusterIP', 'NodePort', 'LoadBalancer']),
      external_ips: this.#some(someAddresses).slice(0, 2),
      lb_ingress_ips: this.#some(['198.51.100.1', '203.0.113.50']),
      external_traffic_policy: this.#one(['Cluster', 'Local']),
      internal_traffic_policy: this.#one(['', 'Local']),
      health_check_node_port: this.#one([0, 31_000]),
      session_affinity: this.#one(['None', 'ClientIP']),
      creation_timestamp: this.#one(['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']),
      port: this.#one(ports),
    });
  }

  #endpoints(name: string): KubeValue {
    const subset = () => ({
      addresses: this.#some(endpoints),
      not_ready_addresses: this.#some(endpoints).map((one) => {
        return { ...one, serving_while_terminating: this.#below(2) === 0 };
      }),
      ports: this.#one(endpointPorts),
    });
    const value = endpointsModel.canonical({
      name,
      namespace: 'default',
      endpoint_subsets: this.#below(2) === 0 ? [subset()] : [subset(), subset()],
    });
    return { resource: 'endpoints', key: resources.endpoints.key(name, 'default'), value };
  }

  /** Of this node or another one, with host ports that services and other pods want, too. */
  #pod(name: string): KubeValue {
    const somePort = () => ({
      container_port: this.#one([80, 8080]),
      host_port: this.#one([0, 80, 30_080]),
      protocol: this.#one(['TCP', 'UDP'] as const),
      host_ip_address: this.#one(['', '0.0.0.0', '127.0.0.1', ...someAddresses]),
    });
    const value = podModel.canonical({
      name,
      namespace: 'default',
      ip_address: this.#one(['', '10.1.1.2', '10.1.1.3', '10.1.2.2', '172.16.0.5']),
      ip_addresses: this.#some(['fd01:0:0:1::2', 'fd01:0:0:2::2']),
      container: [{ name: 'main', port: [somePort(), somePort()] }],
    });
    return { resource: 'pod', key: resources.pod.key(name, 'default'), value };
  }

  /** The Node object has the addresses of the host. */
  #changeOwnNode() {
    const others = this.#some(['172.16.0.7', '203.0.113.50', 'fd09::5', 'fd09::7']);
    const addresses = ['172.16.0.5', ...others];
    const cidrs = addresses.map((one) => `${one}/${one.includes(':') ? 64 : 24}`);
    this.node.host.hostLinks = [{ name: 'eth0', mtu: 1500, addresses: cidrs }];
    return this.node.put(nodeInZone('node-a', this.#one(['', 'east', 'west']), addresses));
  }

  #changeLease() {
    const address = `${this.#one(['192.168.16.1', '192.168.16.77'])}/24`;
    const router = this.#one(['', '192.168.16.100']);
    this.node.vpp.dhcp = this.#some([{ interfaceName: 'Gig1', address, router }]);
    const addresses = this.node.vpp.dhcp.map((lease) => lease.address);
    return this.node.run(NodeIpChange.event({ addresses, defaultGateway: router }));
  }

  #below(limit: number): number {
    return Math.floor(this.#random.next() * limit);
  }

  #one<T>(all: readonly T[]): T {
    return all[this.#below(all.length)] as T;
  }

  #some<T>(all: readonly T[]): T[] {
    return all.filter(() => this.#below(2) === 0);
  }
}

function stateOf(node: TestNode): object {
  return {
    values: sorted(node.config),
    problems: [...node.services.serviceProblems()].sort(),
    healthChecks: [...node.services.healthChecks()].sort(),
  };
}

async function run(yaml: string, seed: number): Promise<void> {
  const host = new FakeHost();
  host.socketServices = true;
  const node = await startedNode({ yaml, host, service: { socketServices: '/sys/fs' } });
  const cluster = new RandomCluster(node, seed, yaml.includes('useDHCP'));
  for (let step = 0; step < STEPS; step++) {
    const { error } = await cluster.change();
    assert.equal(error, undefined, `seed ${seed}, step ${step}`);
    const before = stateOf(cluster.node);
    await cluster.node.heal();
    assert.deepEqual(stateOf(cluster.node), before, `seed ${seed}, step ${step}`);
    if (step % RESTART_EVERY !== 0) continue;
    const restarted = cluster.node.restart();
    await restarted.resync(cluster.node.state());
    assert.deepEqual(stateOf(restarted), before, `restart, seed ${seed}, step ${step}`);
    cluster.node = restarted;
  }
}

describe('services that change at random', () => {
  for (const [title, yaml] of Object.entries(configurations))
    for (let seed = 1; seed <= 4; seed++)
      it(`have the values of a resync after each change: ${title} (seed ${seed})`, () =>
        run(yaml, seed));
});
