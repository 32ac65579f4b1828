/** Services of pods with addresses of IPv6: the kernel translates them at sockets, and cnat of VPP for clients outside. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podModel } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { type SocketNodeAddress, socketNodeAddressKey } from '#models/linux/socket-node-address.ts';
import type { SocketService } from '#models/linux/socket-service.ts';
import { type CnatTranslation, cnatTranslationModel } from '#models/vpp/cnat-translation.ts';
import type { VppRoute } from '#models/vpp/route.ts';
import { VRF_LINK_TABLE } from '#plugins/ipv4net/api.ts';
import { FakeHost } from '../fake-ports.ts';
import { fakeVppWithNics } from '../ipv4net/vpp-with.ts';
import { startedNode } from '../ipv4net/wired-node.ts';
import { type KubeValue, nodeValue, type TestNode, vppNodeValue } from '../test-node.ts';
import { endpointsValue, serviceValue, type TestEndpoint } from './service-values.ts';

const KEY = 'config/linux/socket/v2/service/default/web';
const YAML = `
ipamConfig:
  podSubnetCIDR: fd01::/48
  podSubnetOneNodePrefixLen: 64
  vppHostSubnetCIDR: fd02::/48
  vppHostSubnetOneNodePrefixLen: 64
  nodeInterconnectCIDR: fd03::/64
  vxlanCIDR: fd04::/64
  serviceCIDR: fd05::/108
`;
const CNAT = cnatTranslationModel.keyPrefix;
const NAT_LOOPBACK = 'fd01::1:ffff:ffff:ffff:fffe';
const CLUSTER_IP = 'fd05::a';
const OUTSIDE = /^IPv6 is carried at sockets only: clients outside of the cluster are not served/;
const inside: TestEndpoint = { ip: 'fd01:0:0:1::2', node: 'node-a', pod: 'local-2' };
const remote: TestEndpoint = { ip: 'fd01:0:0:2::2', node: 'node-b', pod: 'remote-2' };
const [insideBackend, remoteBackend] = [inside, remote].map(({ ip }) => ({
  address: ip,
  port: 8080,
  weight: 1,
}));
const nodeB = [vppNodeValue(2, 'node-b', 'fd03::2/64'), nodeValue('node-b', 'fd09::6')];

async function ipv6Node(
  hasSockets: boolean,
  others: readonly KubeValue[] = [],
  hasCnat = true,
): Promise<TestNode> {
  const host = new FakeHost();
  host.hostLinks = [{ name: 'eth0', mtu: 1500, addresses: ['fd09::5/64', '172.16.0.5/24'] }];
  host.ipv6 = true;
  host.socketServices = hasSockets;
  const service = { socketServices: '/sys/fs' };
  const vpp = fakeVppWithNics('Gig1', 'Gig2');
  vpp.cnat = hasCnat;
  return await startedNode({ host, vpp, service, yaml: YAML }, [...nodeB, ...others]);
}

function podValue(name: string, fields: Parameters<typeof podModel.canonical>[0]): KubeValue {
  const value = podModel.canonical({ ...fields, name, namespace: 'default' });
  return { resource: 'pod', key: resources.pod.key(name, 'default'), value };
}

const routeKey = (vrf: number, destination: string) =>
  `config/vpp/v2/route/vrf/${vrf}/dst/${destination}/gw/::`;

const keysOf = (node: TestNode, part: string) =>
  [...node.config.keys()].filter((key) => key.includes(part));

describe('a service of an IPv6 cluster', () => {
  it('is carried at sockets, with its cluster address, node ports and external addresses', async () => {
    const node = await ipv6Node(true);
    await node.put(
      serviceValue('web', CLUSTER_IP, {
        service_type: 'LoadBalancer',
        // of a dual-stack service, those of the other family are not served
        cluster_ips: [CLUSTER_IP, '10.96.0.10'],
        lb_ingress_ips: ['2001:db8::1', '203.0.113.1'],
        external_ips: ['2001:db8::2'],
        port: [{ name: 'http', protocol: 'TCP', port: 80, node_port: 30_080 }],
      }),
    );
    await node.put(endpointsValue('web', [inside, remote, { ip: '10.1.2.9', node: 'node-b' }]));
    const at = (address: string, scope: string, port = 80) => ({
      address,
      port,
      protocol: 'TCP',
      scope,
    });
    assert.deepEqual(node.at<SocketService>(KEY).mappings, [
      {
        frontends: [
          at('2001:db8::1', 'ADDRESS'),
          at('2001:db8::2', 'ADDRESS'),
          at('::', 'OTHER_NODES', 30_080),
          at('::', 'THIS_NODE', 30_080),
          at(CLUSTER_IP, 'ADDRESS'),
        ],
        backends: [insideBackend, remoteBackend],
        affinity_timeout: 0,
        host_source: '',
      },
    ]);
    assert.equal(node.services.rendererName(), 'cnat, socket');
    const translations = ['2001:db8::1/80', '2001:db8::2/80', 'fd03::1/30080'];
    assert.deepEqual([...node.services.valuesOf('default/web').keys()].sort(), [
      KEY,
      ...translations.map((end) => `${CNAT}TCP/${end}`),
    ]);
    for (const one of node.services.renderedServices().get('default/web')!.addresses) {
      const isInVpp = translations.includes(`${one.address}/${one.port}`);
      assert.deepEqual(
        node.services.carriersOf(one).map(({ carrier }) => carrier),
        isInVpp ? ['cnat', 'sockets'] : ['sockets'],
      );
    }
  });

  it('with the policy Local has other backends at the addresses of another node', async () => {
    const node = await ipv6Node(true);
    await node.put(
      serviceValue('web', CLUSTER_IP, {
        service_type: 'NodePort',
        external_traffic_policy: 'Local',
        port: [{ name: 'http', protocol: 'TCP', port: 80, node_port: 30_080 }],
      }),
    );
    await node.put(endpointsValue('web', [inside, remote]));
    const { mappings } = node.at<SocketService>(KEY);
    assert.deepEqual(
      mappings.map(({ backends }) => backends),
      [[insideBackend, remoteBackend], [remoteBackend]],
    );
    assert.deepEqual(
      mappings[1]!.frontends.map(({ address, scope }) => `${scope} ${address}`),
      ['ADDRESS fd03::2', 'ADDRESS fd09::6'],
    );
  });

  it('of a VPP that lacks cnat is reported by its name if it has addresses for clients outside', async () => {
    const node = await ipv6Node(true, [], false);
    await node.put(serviceValue('web', CLUSTER_IP));
    assert.equal(node.services.serviceProblems().size, 0);
    await node.put(serviceValue('web', CLUSTER_IP, { external_ips: ['2001:db8::2'] }));
    const [problem] = node.services.serviceProblems().get('default/web') ?? [];
    assert.match(problem ?? '', OUTSIDE);
  });

  it('needs nothing of NAT44, whatever pods want', async () => {
    const node = await ipv6Node(true);
    const annotations = { 'contivpp.io/service-translation': 'packets' };
    await node.put(podValue('web', { annotations }));
    await node.add('web', 'c1');
    await node.add('other', 'c2');
    await node.put(
      serviceValue('web', CLUSTER_IP, {
        external_traffic_policy: 'Local',
        external_ips: ['2001:db8::2'],
      }),
    );
    await node.put(endpointsValue('web', [inside]));
    await node.put(nodeValue('node-a', 'fd09::7'));
    assert.deepEqual(keysOf(node, '/nat/'), [`${CNAT}TCP/2001:db8::2/80`]);
    assert.deepEqual(keysOf(node, 'exemption'), ['config/linux/socket/v2/exemption/c1']);
    assert.equal(node.services.translationOf({ containerId: 'c1' }), undefined);
    assert.equal(node.services.translationOf({ containerId: 'c2' }), 'sockets');
    assert.deepEqual(node.services.podsWithoutServices(), ['default/web']);
    const heard = new Map(node.config);
    assert.equal((await node.resync()).error, undefined);
    assert.deepEqual(new Map(node.config), heard);
  });

  it('has a health check for load balancers only if the clients that they send are served', async () => {
    for (const hasCnat of [true, false]) {
      const node = await ipv6Node(true, [], hasCnat);
      await node.put(
        serviceValue('web', CLUSTER_IP, {
          service_type: 'LoadBalancer',
          external_traffic_policy: 'Local',
          health_check_node_port: 31_000,
        }),
      );
      assert.equal(node.services.healthChecks().size, hasCnat ? 1 : 0);
    }
  });

  it('has a translation for each address at which clients outside ask, with the NAT loopback as their source', async () => {
    const node = await ipv6Node(true);
    const web = serviceValue('web', CLUSTER_IP, {
      service_type: 'LoadBalancer',
      session_affinity: 'ClientIP',
      lb_ingress_ips: ['2001:db8::1'],
      // of the host, at which no packet comes to VPP
      external_ips: ['fd09::5'],
      port: [{ name: 'http', protocol: 'TCP', port: 80, node_port: 30_080 }],
    });
    await node.put(web);
    await node.put(endpointsValue('web', [inside, remote]));
    const backends = [inside, remote].map(({ ip }) => ({ ip_address: ip, port: 8080 }));
    const common = { protocol: 'TCP', client_affinity: true, backends };
    assert.deepEqual(
      keysOf(node, CNAT)
        .sort()
        .map((key) => node.at(key)),
      [
        { external_ip: '2001:db8::1', external_port: 80, source_ip: NAT_LOOPBACK, ...common },
        { external_ip: 'fd03::1', external_port: 30_080, source_ip: NAT_LOOPBACK, ...common },
      ],
    );
    assert.equal(node.at<VppRoute>(routeKey(0, '2001:db8::1/128')).type, 'UNREACHABLE');
    assert.equal(node.at<VppRoute>(routeKey(1, '2001:db8::1/128')).type, 'DROP');
    assert.equal(node.at<VppRoute>(routeKey(0, `${NAT_LOOPBACK}/128`)).type, 'UNREACHABLE');
  });

  it('without endpoints has no translation, which VPP does not survive, and refuses its clients', async () => {
    const node = await ipv6Node(true);
    await node.put(serviceValue('web', CLUSTER_IP, { external_ips: ['2001:db8::1'] }));
    await node.put(endpointsValue('web', [inside]));
    assert.equal(keysOf(node, CNAT).length, 1);
    await node.put(endpointsValue('web', []));
    assert.deepEqual(keysOf(node, CNAT), []);
    assert.equal(node.at<VppRoute>(routeKey(0, '2001:db8::1/128')).type, 'UNREACHABLE');
  });

  it('with the policy Local keeps its clients, and what pods answer passes cnat while there is such a backend', async () => {
    const node = await ipv6Node(true);
    await node.add('local-2', 'c1');
    const local = serviceValue('web', CLUSTER_IP, {
      external_ips: ['2001:db8::1'],
      external_traffic_policy: 'Local',
    });
    await node.put(local);
    await node.put(endpointsValue('web', [inside, remote]));
    const [key = ''] = keysOf(node, CNAT);
    const { source_ip, backends } = node.at<CnatTranslation>(key);
    assert.deepEqual([source_ip, backends], ['', [{ ip_address: inside.ip, port: 8080 }]]);
    const routes = () =>
      keysOf(node, `/vrf/${VRF_LINK_TABLE}/`).filter((one) => /::\/1\//.test(one));
    assert.equal(routes().length, 2);
    for (const one of routes()) assert.equal(node.at<VppRoute>(one).outgoing_interface, 'cnatLink');
    await node.put(endpointsValue('web', [remote]));
    assert.deepEqual(routes(), []);
    // other nodes serve the clients of the address
    assert.deepEqual(keysOf(node, '2001:db8::1'), []);
  });

  it('has the host ports of pods of this node at sockets', async () => {
    const node = await ipv6Node(true);
    const ports = ['', '::', '::1'].map((host_ip_address, at) => ({
      container_port: 8080,
      host_port: 80 + at,
      host_ip_address,
    }));
    await node.put(
      podValue('local-2', { ip_address: inside.ip, container: [{ name: 'main', port: ports }] }),
    );
    const value = node.at<SocketService>('config/linux/socket/v2/service/default/pod:local-2');
    assert.deepEqual(
      value.mappings.map(({ frontends }) => frontends.map(({ address, port }) => [address, port])),
      [
        [
          ['fd03::1', 80],
          ['fd03::1', 81],
          ['fd09::5', 80],
          ['fd09::5', 81],
        ],
      ],
    );
    assert.equal(node.services.serviceProblems().size, 0);
    assert.equal(keysOf(node, CNAT).length, 2);
  });

  it('is reached at the addresses of IPv6 that the nodes have', async () => {
    const node = await ipv6Node(true);
    const found = keysOf(node, socketNodeAddressKey.prefix()).map((key) =>
      node.at<SocketNodeAddress>(key),
    );
    assert.deepEqual(Object.fromEntries(found.map((one) => [one.address, one.is_local])), {
      'fd03::1': true,
      'fd09::5': true,
      'fd03::2': false,
      'fd09::6': false,
    });
  });
});

describe('without services at sockets an IPv6 cluster', () => {
  it('has none, which is reported once, with what to do', async () => {
    const web = serviceValue('web', CLUSTER_IP, { external_ips: ['2001:db8::2'] });
    const node = await ipv6Node(false, [web]);
    const resyncs = [await node.restart().resync(node.state()), await node.resync()];
    assert.deepEqual(
      resyncs.map(({ warnings }) => warnings),
      [['CV_SERVICES_NOT_CARRIED'], []],
    );
    await node.put(serviceValue('db', 'fd05::b'));
    assert.deepEqual([...keysOf(node, '/nat/'), ...keysOf(node, '/socket/')], []);
    const { services } = node;
    assert.equal(services.rendererName(), undefined);
    assert.match(services.whyNoneIsCarried() ?? '', /IPv6/);
    assert.deepEqual([...services.serviceProblems(), ...services.podsWithoutServices()], []);
  });

  it('refuses the clients of its services, instead of sending them out of the cluster', async () => {
    for (const hasSockets of [false, true]) {
      const node = await ipv6Node(hasSockets);
      const routes = [0, 1].map((vrf) =>
        node.at<VppRoute>(`config/vpp/v2/route/vrf/${vrf}/dst/fd05::/108/gw/::`),
      );
      assert.deepEqual(
        routes.map(({ type }) => type),
        ['UNREACHABLE', 'INTER_VRF'],
      );
    }
  });
});
