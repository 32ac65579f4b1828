import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import { type PodContainerPort, podModel } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { ServiceProcessor } from '#plugins/service/processor/service-processor.ts';
import {
  backendsOf,
  localNode,
  port,
  problemsOf,
  recordsOf,
  service,
  unrenderedOf,
} from '../service-objects.ts';

const slices = new Slices(new ManualClock());
const NODE = '192.168.16.1';
const HOST = '10.20.0.1';

type PortInput = Partial<PodContainerPort>;

/** A record of a pod of the namespace `shop` with TCP port 8080. */
function pod(name: string, address: string, ...ports: PortInput[]) {
  const key = resources.pod.key(name, 'shop');
  const value = podModel.canonical({
    name,
    namespace: 'shop',
    ip_address: address,
    container: [{ name: 'main', port: ports.map((one) => ({ container_port: 8080, ...one })) }],
  });
  return [key, value] as const;
}

async function processed(
  pods: readonly (readonly [string, object])[],
  services: Parameters<typeof recordsOf>[0] = [],
): Promise<ServiceProcessor> {
  const records = recordsOf(services, []).set('pod', new Map(pods));
  return ServiceProcessor.read(records, localNode, slices);
}

test('a host port is an address of the node with the pod as its only backend', async () => {
  const processor = await processed([
    pod(
      'web-0',
      '10.1.1.2',
      { host_port: 80 },
      { host_port: 53, protocol: 'UDP', container_port: 5353 },
    ),
    pod('plain', '10.1.1.3', {}),
  ]);
  assert.deepEqual(backendsOf(processor), {
    [`TCP ${NODE}:80`]: ['10.1.1.2:8080'],
    [`TCP ${HOST}:80`]: ['10.1.1.2:8080'],
    [`UDP ${NODE}:53`]: ['10.1.1.2:5353'],
    [`UDP ${HOST}:53`]: ['10.1.1.2:5353'],
  });
  assert.deepEqual(processor.names(), ['shop/pod:web-0']);
  const addresses = processor.rendered().get('shop/pod:web-0')?.addresses ?? [];
  for (const { kind, replacesClient, affinityTimeout } of addresses)
    assert.deepEqual([kind, replacesClient, affinityTimeout], ['host-port', false, 0]);
  assert.deepEqual([...processor.ofLocalPod('shop/web-0')], ['shop/pod:web-0']);
  assert.equal(problemsOf(processor).size, 0);
});

test('pods of other nodes, of the network of the host, and without an address have none', async () => {
  const processor = await processed([
    pod('remote', '10.1.2.2', { host_port: 80 }),
    pod('host', HOST, { host_port: 8080 }),
    pod('late', '', { host_port: 80 }),
    pod('v6', 'fd00::2', { host_port: 80 }),
  ]);
  assert.deepEqual(processor.names(), []);
});

test('a pod of two families is reached at its address of the family of the node', async () => {
  const [key, value] = pod('dual', 'fd00::2', { host_port: 80, host_ip_address: NODE });
  const processor = await processed([[key, { ...value, ip_addresses: ['fd00::2', '10.1.1.2'] }]]);
  assert.deepEqual(backendsOf(processor), { [`TCP ${NODE}:80`]: ['10.1.1.2:8080'] });
});

test('a host port answers at its hostIP alone; what cannot be served is reported', async () => {
  const at = (host_ip_address: string, host_port: number) => ({ host_ip_address, host_port });
  const processor = await processed([
    pod(
      'web-0',
      '10.1.1.2',
      at(NODE, 80),
      at('0.0.0.0', 81),
      at('127.0.0.1', 82),
      at('203.0.113.9', 83),
      at('::', 84),
      at('none', 85),
      { host_port: 86, protocol: 'SCTP', host_ip_address: NODE },
      { host_port: 4789, protocol: 'UDP', host_ip_address: NODE },
    ),
  ]);
  assert.deepEqual(Object.keys(backendsOf(processor)), [
    `TCP ${NODE}:80`,
    `TCP ${NODE}:81`,
    `TCP ${HOST}:81`,
  ]);
  const reasons = {
    'TCP 203.0.113.9:83': '203.0.113.9 is not an address of this node',
    'TCP :::84': 'only IPv4 is rendered',
    'TCP none:85': '"none" is not an address',
    [`SCTP ${NODE}:86`]: 'SCTP is not supported',
    [`UDP ${NODE}:4789`]: 'the node needs UDP port 4789 for VXLAN',
  };
  assert.deepEqual(unrenderedOf(processor, 'shop/pod:web-0'), {
    'TCP 127.0.0.1:82': 'only the host reaches it',
    ...reasons,
  });
  assert.deepEqual(processor.problemsOf('shop/pod:web-0'), Object.values(reasons));
});

test('ports with one name in two containers lead to their own container', async () => {
  const [key, value] = pod('web-0', '10.1.1.2');
  const container = [8080, 9090].map((container_port, at) => ({
    name: `c${at}`,
    port: [{ name: 'http', container_port, host_port: 80 + at, host_ip_address: NODE }],
  }));
  const processor = await processed([[key, podModel.canonical({ ...value, container })]]);
  assert.deepEqual(backendsOf(processor), {
    [`TCP ${NODE}:80`]: ['10.1.1.2:8080'],
    [`TCP ${NODE}:81`]: ['10.1.1.2:9090'],
  });
});

test('the first of two pods by name has a port, and the next takes over; a node port precedes both', async () => {
  const wanted = { host_port: 30_080, host_ip_address: NODE };
  const [first, second] = [pod('a', '10.1.1.2', wanted), pod('b', '10.1.1.3', wanted)];
  const owned = service({ type: 'NodePort', ports: [port({ nodePort: 30_080 })] });
  const processor = await processed([second], [owned]);
  const change = (resource: string, [key, current]: readonly [string, object | undefined]) =>
    processor.change({ resource, key, current }, slices);
  const taken = (owner: string) => `${owner} has ${NODE} TCP port 30080`;
  assert.deepEqual([...problemsOf(processor)], [['shop/pod:b', [taken('service shop/web')]]]);

  await change('pod', first);
  const [[serviceKey]] = [...recordsOf([owned], []).get('service')!] as [[string, object]];
  await change('service', [serviceKey, undefined]);
  assert.deepEqual(backendsOf(processor), { [`TCP ${NODE}:30080`]: ['10.1.1.2:8080'] });
  assert.deepEqual([...problemsOf(processor)], [['shop/pod:b', [taken('pod shop/a')]]]);

  const { services } = await change('pod', [first[0], undefined]);
  assert.deepEqual([...services.keys()], ['shop/pod:a', 'shop/pod:b']);
  assert.deepEqual(backendsOf(processor), { [`TCP ${NODE}:30080`]: ['10.1.1.3:8080'] });
  assert.equal(problemsOf(processor).size, 0);
});

test('a host port precedes an external IP of a service, which nothing checks', async () => {
  const processor = await processed(
    [pod('web-0', '10.1.1.2', { host_port: 80, host_ip_address: NODE })],
    [service({ externalIPs: [NODE] })],
  );
  assert.deepEqual(backendsOf(processor)[`TCP ${NODE}:80`], ['10.1.1.2:8080']);
  assert.deepEqual(
    [...problemsOf(processor)],
    [['shop/web', [`pod shop/web-0 has ${NODE} TCP port 80`]]],
  );
});

test('a host port follows the addresses of the node', async () => {
  const processor = await processed([pod('web-0', '10.1.1.2', { host_port: 80 })]);
  await processor.setNode({ ...localNode, addresses: [NODE, '10.20.0.77'] }, slices);
  assert.deepEqual(Object.keys(backendsOf(processor)), [`TCP ${NODE}:80`, 'TCP 10.20.0.77:80']);
});

test('a pod that ends loses its host ports', async () => {
  const [key, value] = pod('web-0', '10.1.1.2', { host_port: 80 });
  const processor = await processed([[key, value]]);
  const { services } = await processor.change(
    { resource: 'pod', key, current: { ...value, ip_address: '' } },
    slices,
  );
  assert.deepEqual([...services], [['shop/pod:web-0', undefined]]);
  assert.deepEqual(processor.names(), []);
});
