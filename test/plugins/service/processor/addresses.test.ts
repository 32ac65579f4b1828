import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import { absentNode } from '#plugins/service/processor/other-nodes.ts';
import {
  backendsOf,
  endpoint,
  localNode,
  port,
  problemsOf,
  processed,
  recordsOf,
  type ServiceInput,
  service,
  slice,
  unrenderedOf,
} from '../service-objects.ts';

/** Turns of the event loop, which nothing here needs. */
const turns = new Slices(new ManualClock());

const slices = [slice([endpoint('10.1.1.2'), endpoint('10.1.2.2')])];

async function addressesOf(input: ServiceInput): Promise<string[]> {
  return Object.keys(backendsOf(await processed([service(input)], slices)));
}

test('a ClusterIP service is reached at its cluster address', async () => {
  assert.deepEqual(await addressesOf({}), ['TCP 10.96.0.9:80']);
});

test('nothing is rendered of services without a cluster address, and the reason is shown', async () => {
  const cases: [ServiceInput, string][] = [
    [{ clusterIP: 'None', externalIPs: ['198.51.100.7'] }, 'it is headless'],
    [{ clusterIP: '' }, 'it has no cluster address'],
    [{ type: 'ExternalName', clusterIP: '' }, 'its type is ExternalName'],
    [{ clusterIPs: ['fd00:96::9'], clusterIP: 'fd00:96::9' }, 'it has no IPv4 cluster address'],
  ];
  for (const [input, reason] of cases) {
    const processor = await processed([service(input)], slices);
    assert.equal(processor.rendered().size, 0, reason);
    assert.equal(processor.describe('shop/web')?.whyNotRendered, reason);
    assert.equal(problemsOf(processor).size, 0, reason);
  }
});

test('a service of another proxy is not rendered, and its proxy is named', async () => {
  const labels = { 'service.kubernetes.io/service-proxy-name': 'mesh' };
  const processor = await processed([service({ labels })], slices);
  assert.equal(processor.rendered().size, 0);
  assert.equal(processor.describe('shop/web')?.whyNotRendered, 'the proxy "mesh" serves it');
});

test('a service with the headless label is not rendered although it has an address', async () => {
  const labels = { 'service.kubernetes.io/headless': '' };
  const processor = await processed([service({ labels })], slices);
  assert.equal(processor.rendered().size, 0);
  assert.match(processor.describe('shop/web')?.whyNotRendered ?? '', /headless/);
});

test('of a dual-stack service the family of the node is rendered, wherever it is listed', async () => {
  const clusterIPs = ['fd00:96::9', '10.96.0.9'];
  const dual = service({ clusterIPs, clusterIP: 'fd00:96::9' });
  assert.deepEqual(Object.keys(backendsOf(await processed([dual], slices))), ['TCP 10.96.0.9:80']);
  const ipv6 = { ...localNode, families: [6] as const, podSubnets: ['fd00:1::/48'] };
  const endpoints = [slice([endpoint('fd00:1::2')], { addressType: 'IPv6' })];
  assert.deepEqual(backendsOf(await processed([dual], endpoints, { node: ipv6 })), {
    'TCP fd00:96::9:80': ['fd00:1::2:8080'],
  });
});

test('a node port answers on all addresses of this node, and on no other node', async () => {
  assert.deepEqual(await addressesOf({ type: 'NodePort', ports: [port({ nodePort: 30_080 })] }), [
    'TCP 10.96.0.9:80',
    'TCP 192.168.16.1:30080',
    'TCP 10.20.0.1:30080',
  ]);
});

test('a node port is not rendered at loopback and link-local addresses of the host', async () => {
  const node = {
    ...localNode,
    addresses: ['127.0.0.1', '169.254.20.10', '192.168.16.1', 'fe80::1'],
  };
  const nodePort = service({ type: 'NodePort', ports: [port({ nodePort: 30_080 })] });
  const processor = await processed([nodePort], slices, { node });
  assert.deepEqual(Object.keys(backendsOf(processor)), [
    'TCP 10.96.0.9:80',
    'TCP 192.168.16.1:30080',
  ]);
  assert.equal(problemsOf(processor).size, 0);
});

test('external addresses and addresses of a load balancer are served at the port of the service', async () => {
  const input: ServiceInput = {
    type: 'LoadBalancer',
    externalIPs: ['198.51.100.7', 'fd00::7'],
    ingress: [{ ip: '203.0.113.9' }, { hostname: 'lb.example.com' }],
  };
  assert.deepEqual(await addressesOf(input), [
    'TCP 10.96.0.9:80',
    'TCP 203.0.113.9:80',
    'TCP 198.51.100.7:80',
  ]);
});

test('traffic of a load balancer with ipMode Proxy goes through the load balancer', async () => {
  const ingress = [{ ip: '203.0.113.9', ipMode: 'Proxy' }];
  const processor = await processed([service({ type: 'LoadBalancer', ingress })], slices);
  assert.deepEqual(Object.keys(backendsOf(processor)), ['TCP 10.96.0.9:80']);
  assert.deepEqual(unrenderedOf(processor), {
    'TCP 203.0.113.9:80': 'its traffic must go through the load balancer (ipMode Proxy)',
  });
  assert.equal(problemsOf(processor).size, 0);
});

test('an address that is external and of the load balancer is rendered once', async () => {
  const input: ServiceInput = {
    type: 'LoadBalancer',
    externalIPs: ['203.0.113.9'],
    ingress: [{ ip: '203.0.113.9' }],
  };
  const processor = await processed([service(input)], slices);
  const kinds = processor
    .rendered()
    .get('shop/web')
    ?.addresses.map(({ kind }) => kind);
  assert.deepEqual(kinds, ['cluster-ip', 'load-balancer']);
  assert.equal(problemsOf(processor).size, 0);
});

test('ports of all protocols are rendered, except SCTP, which is reported', async () => {
  const ports = [
    port({ name: 'dns', protocol: 'UDP', port: 53 }),
    port({ name: 'dns-tcp', port: 53 }),
    port({ name: 'sip', protocol: 'SCTP', port: 5060 }),
  ];
  const processor = await processed([service({ ports })], slices);
  assert.deepEqual(Object.keys(backendsOf(processor)), ['UDP 10.96.0.9:53', 'TCP 10.96.0.9:53']);
  assert.deepEqual(unrenderedOf(processor), { 'SCTP 10.96.0.9:5060': 'SCTP is not supported' });
  assert.deepEqual(problemsOf(processor).get('shop/web'), ['SCTP is not supported']);
});

test('an external address must not take traffic of pods or of the node itself', async () => {
  const refused: [string, string][] = [
    ['10.1.2.7', '10.1.2.7 is in the pod subnet'],
    ['192.168.30.2', '192.168.30.2 is in the VXLAN subnet'],
    ['127.0.0.1', '127.0.0.1 is a loopback address'],
    ['169.254.169.254', '169.254.169.254 is a link-local address'],
    ['0.0.0.0', '0.0.0.0 is the unspecified address'],
    ['224.0.0.5', '224.0.0.5 is a multicast address'],
    ['255.255.255.255', '255.255.255.255 is a reserved address'],
    ['192.168.16.100', '192.168.16.100 is the default gateway'],
    ['example.com', '"example.com" is not an address'],
  ];
  for (const [address, reason] of refused) {
    const processor = await processed([service({ externalIPs: [address] })], slices);
    assert.deepEqual(Object.keys(backendsOf(processor)), ['TCP 10.96.0.9:80'], address);
    assert.deepEqual(problemsOf(processor).get('shop/web'), [reason]);
  }
});

test('external addresses are not served where they are disabled, those of the load balancer are', async () => {
  const input: ServiceInput = {
    type: 'LoadBalancer',
    externalIPs: ['198.51.100.7', '203.0.113.9'],
    ingress: [{ ip: '203.0.113.9' }],
  };
  const node = { ...localNode, hasExternalIps: false };
  const processor = await processed([service(input)], slices, { node });
  assert.deepEqual(Object.keys(backendsOf(processor)), ['TCP 10.96.0.9:80', 'TCP 203.0.113.9:80']);
  const whyNot = 'disableExternalIPs is set';
  assert.deepEqual(unrenderedOf(processor), {
    'TCP 198.51.100.7:80': whyNot,
    'TCP 203.0.113.9:80': whyNot,
  });
  assert.equal(problemsOf(processor).size, 0);
});

test('an external address that another node has is served by that node alone', async () => {
  const externalIPs = ['10.20.0.2', '192.168.16.2', '198.51.100.7'];
  const processor = await processed([service({ externalIPs })], slices);
  const served = () => Object.keys(backendsOf(processor));
  const cluster = 'TCP 10.96.0.9:80';
  assert.deepEqual(served(), [cluster, 'TCP 198.51.100.7:80']);
  assert.deepEqual(unrenderedOf(processor), {
    'TCP 10.20.0.2:80': '10.20.0.2 is an address of node node-b, which serves it',
    'TCP 192.168.16.2:80': '192.168.16.2 is an address of node node-b, which serves it',
  });
  assert.equal(problemsOf(processor).size, 0);
  const gone = absentNode('node-b');
  assert.deepEqual(
    [...(await processor.setOtherNodes([gone], turns)).services.keys()],
    ['shop/web'],
  );
  assert.deepEqual(served().sort(), [cluster, ...externalIPs.map((ip) => `TCP ${ip}:80`)].sort());
  const joined = { ...absentNode('node-c'), addresses: ['198.51.100.7'] };
  assert.deepEqual(
    [...(await processor.setOtherNodes([joined], turns)).services.keys()],
    ['shop/web'],
  );
  assert.equal(served().includes('TCP 198.51.100.7:80'), false);
});

test('a port that the node needs is not taken from it', async () => {
  const ports = [port({ protocol: 'UDP', port: 4789 })];
  const processor = await processed([service({ ports, externalIPs: ['192.168.16.1'] })], slices);
  assert.deepEqual(Object.keys(backendsOf(processor)), ['UDP 10.96.0.9:4789']);
  assert.deepEqual(problemsOf(processor).get('shop/web'), [
    'the node needs UDP port 4789 for VXLAN',
  ]);
});

test('etcd keeps its port at an address of this node, but not from a node port, by which etcd may be reached', async () => {
  const address = '10.20.0.1';
  const ports = [port({ name: 'a', port: 32379, nodePort: 32379 }), port({ name: 'b', port: 80 })];
  const object = service({ type: 'NodePort', ports, externalIPs: [address] });
  const etcd = { ...localNode, etcdEndpoints: [{ address, port: 32379 }] };
  const served = async (node: typeof localNode) =>
    Object.keys(backendsOf(await processed([object], slices, { node }))).filter((key) =>
      key.startsWith(`TCP ${address}:`),
    );
  assert.deepEqual(await served(etcd), [`TCP ${address}:32379`, `TCP ${address}:80`]);
  const withoutNodePort = service({ ports: [port({ port: 32379 })], externalIPs: [address] });
  const processor = await processed([withoutNodePort], slices, { node: etcd });
  assert.ok(
    problemsOf(processor).get('shop/web')?.includes('the node needs TCP port 32379 for etcd'),
  );
  assert.ok(!Object.keys(backendsOf(processor)).includes(`TCP ${address}:32379`));
});

test('an external address of another node is served by that node, also if etcd is there', async () => {
  const address = '10.20.0.2';
  const etcdEndpoints = [{ address, port: 2379 }];
  const object = service({ externalIPs: [address] });
  const why = async (otherNodes: typeof localNode.otherNodes) => {
    const node = { ...localNode, etcdEndpoints, otherNodes };
    const processor = await processed([object], slices, { node });
    const found = processor.describe('shop/web')?.addresses.find((one) => one.address === address);
    return [found?.whyNotRendered, problemsOf(processor).get('shop/web')];
  };
  const ofNode = `${address} is an address of node node-b, which serves it`;
  assert.deepEqual(await why(localNode.otherNodes), [ofNode, undefined]);
  const ofEtcd = `${address} is an address of etcd, which the agent needs`;
  assert.deepEqual(await why([]), [ofEtcd, [ofEtcd]]);
});

test('clients outside the cluster are replaced unless the traffic policy is Local', async () => {
  const replaced = async (externalTrafficPolicy: 'Cluster' | 'Local'): Promise<unknown> => {
    const input: ServiceInput = {
      type: 'LoadBalancer',
      ports: [port({ nodePort: 30_080 })],
      externalIPs: ['198.51.100.7'],
      ingress: [{ ip: '203.0.113.9' }],
      externalTrafficPolicy,
    };
    const processor = await processed([service(input)], slices);
    const { addresses = [] } = processor.rendered().get('shop/web') ?? {};
    return addresses.filter((one) => one.replacesClient).map((one) => one.address);
  };
  const outside = ['192.168.16.1', '10.20.0.1', '203.0.113.9', '198.51.100.7'];
  assert.deepEqual(await replaced('Cluster'), outside);
  assert.deepEqual(await replaced('Local'), []);
});

test('session affinity has the timeout of the service, else that of Kubernetes', async () => {
  const timeout = async (input: ServiceInput): Promise<unknown> => {
    const processor = await processed([service(input)], slices);
    return processor.rendered().get('shop/web')?.addresses[0]?.affinityTimeout;
  };
  assert.equal(await timeout({}), 0);
  assert.equal(await timeout({ sessionAffinity: 'ClientIP' }), 10_800);
  const sessionAffinityConfig = { clientIP: { timeoutSeconds: 60 } };
  assert.equal(await timeout({ sessionAffinity: 'ClientIP', sessionAffinityConfig }), 60);
});

describe('source ranges of a load balancer', () => {
  const addressesWith = async (ranges: string[], annotation?: string) => {
    const input = service({
      type: 'LoadBalancer',
      ports: [port({ nodePort: 30_080 })],
      ingress: [{ ip: '203.0.113.9' }],
      externalIPs: ['203.0.113.10'],
      loadBalancerSourceRanges: ranges,
    });
    const annotations = {
      ...(annotation !== undefined && {
        'service.beta.kubernetes.io/load-balancer-source-ranges': annotation,
      }),
    };
    const metadata = { ...input.metadata, annotations };
    const processor = await processed([{ ...input, metadata }], slices);
    const { addresses = [] } = processor.rendered().get('shop/web') ?? {};
    return { addresses, problems: processor.problemsOf('shop/web') };
  };
  const clientsWith = async (ranges: string[], annotation?: string) => {
    const { addresses, problems } = await addressesWith(ranges, annotation);
    const balanced = addresses.find(({ kind }) => kind === 'load-balancer');
    return { clients: balanced?.clients, problems };
  };

  it('are those of the clients of its addresses alone', async () => {
    const { addresses } = await addressesWith(['198.51.100.0/24']);
    const restricted = addresses.filter(({ clients }) => clients !== undefined);
    assert.deepEqual(
      restricted.map(({ address }) => address),
      ['203.0.113.9'],
    );
    assert.equal(addresses.length, 5);
  });

  it('say whether the pods of this node are among the clients', async () => {
    const podsIn = async (...ranges: string[]) => (await clientsWith(ranges)).clients?.pods;
    assert.equal(await podsIn('10.1.0.0/16'), 'all');
    assert.equal(await podsIn('198.51.100.0/24', '10.1.1.0/24'), 'all');
    assert.equal(await podsIn('10.1.1.0/25'), 'some');
    assert.equal(await podsIn('10.1.2.0/24'), 'none');
  });

  it('are read as the API server reads them, and those that it would refuse permit no client', async () => {
    assert.deepEqual(await clientsWith([' 198.51.100.7/24 ', '010.1.0.0/16']), {
      clients: { ranges: ['10.1.0.0/16', '198.51.100.0/24'], pods: 'all' },
      problems: [],
    });
    const text = '"10.0.0.0/33" of loadBalancerSourceRanges is no network: it permits no client';
    assert.deepEqual(await clientsWith(['10.0.0.0/33']), {
      clients: { ranges: [], pods: 'none' },
      problems: [text],
    });
    const onlyV6 = { clients: { ranges: [], pods: 'none' }, problems: [] };
    assert.deepEqual(await clientsWith(['fd00::/8']), onlyV6);
    for (const open of [[], ['0.0.0.0/0'], ['198.51.100.0/24', '0.0.0.0/0']])
      assert.deepEqual(await clientsWith(open), { clients: undefined, problems: [] });
  });

  it('are those of the annotation where the field is empty', async () => {
    const ranges = async (field: string[], annotation: string) =>
      (await clientsWith(field, annotation)).clients?.ranges;
    const annotation = '198.51.100.0/24, 203.0.113.0/24';
    assert.deepEqual(await ranges([], annotation), ['198.51.100.0/24', '203.0.113.0/24']);
    assert.deepEqual(await ranges(['192.0.2.0/24'], annotation), ['192.0.2.0/24']);
    assert.equal(await ranges([], ' '), undefined);
  });
});

test('an endpoint that is the cluster IP of a service is no backend, and is reported until it is none', async () => {
  const web = service({ clusterIP: '10.96.0.9' });
  const endpoints = [slice([endpoint('10.1.1.2'), endpoint('10.96.0.10')])];
  const processor = await processed([web], endpoints);
  const backends = () => backendsOf(processor)['TCP 10.96.0.9:80']?.length;
  assert.equal(backends(), 2);
  const records = recordsOf([service({ name: 'db', clusterIP: '10.96.0.10' })], []);
  const [[key, value] = []] = records.get('service')!;
  const put = (current: object | undefined) =>
    processor.change({ resource: 'service', key: key!, current }, new Slices(new ManualClock()));
  const { services, problems } = await put(value);
  assert.deepEqual([...services.keys()].sort(), ['shop/db', 'shop/web']);
  assert.equal(backends(), 1);
  const text = 'endpoint "10.96.0.10" is the cluster IP of service shop/db';
  assert.deepEqual(problems.get('shop/web'), [text]);
  assert.deepEqual(processor.describe('shop/web')?.problems, [text]);
  await put(undefined);
  assert.equal(backends(), 2);
  assert.deepEqual(processor.problemsOf('shop/web'), []);
  // its own
  const own = await processed([web], [slice([endpoint('10.96.0.9')])]);
  assert.match(problemsOf(own).get('shop/web')!.join(), /is the cluster IP of service shop\/web/);
});

test('an external address of this node is served by it, although another node has it, too', async () => {
  const externalIPs = ['10.20.0.1'];
  const processor = await processed([service({ externalIPs })], slices);
  const addresses = ['10.20.0.1'];
  await processor.setOtherNodes([{ ...absentNode('node-c'), addresses }], turns);
  assert.ok('TCP 10.20.0.1:80' in backendsOf(processor));
});
