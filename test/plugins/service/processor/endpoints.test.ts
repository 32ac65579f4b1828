import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeSliceEndpoint } from '#kubernetes/reflector/objects/endpoints.ts';
import {
  backendsOf,
  endpoint,
  localNode,
  notReady,
  port,
  problemsOf,
  processed,
  type ServiceInput,
  service,
  slice,
  terminating,
} from '../service-objects.ts';

const CLUSTER = 'TCP 10.96.0.9:80';
const NODE_PORT = 'TCP 192.168.16.1:30080';

/** Backends of the cluster address and of a node port, sorted. */
async function backends(
  endpoints: readonly KubeSliceEndpoint[],
  input: ServiceInput = {},
  zone = '',
): Promise<{ inside: string[]; outside: string[] }> {
  const spec: ServiceInput = { type: 'NodePort', ports: [port({ nodePort: 30_080 })], ...input };
  const found = backendsOf(await processed([service(spec)], [slice(endpoints)], { zone }));
  const addresses = (of: string) =>
    (found[of] ?? []).map((text) => text.replace(':8080', '')).sort();
  return { inside: addresses(CLUSTER), outside: addresses(NODE_PORT) };
}

const local = endpoint('10.1.1.2');
const remote = endpoint('10.1.2.2');

test('a service without endpoints is rendered without backends', async () => {
  assert.deepEqual(backendsOf(await processed([service()])), { [CLUSTER]: [] });
  assert.deepEqual(await backends([{ ...local, ...notReady }]), { inside: [], outside: [] });
});

test('endpoints that are not ready are not used', async () => {
  const { inside } = await backends([local, { ...remote, ...notReady }]);
  assert.deepEqual(inside, ['10.1.1.2']);
});

test('terminating endpoints that still serve are used only if none is ready', async () => {
  const leaving = { ...remote, ...terminating };
  assert.deepEqual((await backends([local, leaving])).inside, ['10.1.1.2']);
  const { inside } = await backends([{ ...local, ...notReady }, leaving]);
  assert.deepEqual(inside, ['10.1.2.2']);
});

test('the external traffic policy Local cuts remote backends from external addresses only', async () => {
  assert.deepEqual(await backends([local, remote], { externalTrafficPolicy: 'Local' }), {
    inside: ['10.1.1.2', '10.1.2.2'],
    outside: ['10.1.1.2'],
  });
});

test('without a local backend the policy Local leaves an address without backends', async () => {
  const policy = { externalTrafficPolicy: 'Local' } as const;
  assert.deepEqual(await backends([remote], policy), { inside: ['10.1.2.2'], outside: [] });
});

test('the internal traffic policy Local cuts remote backends from the cluster address only', async () => {
  assert.deepEqual(await backends([local, remote], { internalTrafficPolicy: 'Local' }), {
    inside: ['10.1.1.2'],
    outside: ['10.1.1.2', '10.1.2.2'],
  });
});

test('each policy decides on its own whether terminating endpoints are used', async () => {
  const endpoints = [{ ...local, ...terminating }, remote];
  assert.deepEqual(await backends(endpoints, { externalTrafficPolicy: 'Local' }), {
    inside: ['10.1.2.2'],
    outside: ['10.1.1.2'],
  });
});

const forZones = (...zones: string[]) => ({ forZones: zones.map((name) => ({ name })) });
const forNodes = (...nodes: string[]) => ({ forNodes: nodes.map((name) => ({ name })) });

test('zone hints select the endpoints for the zone of the node', async () => {
  const endpoints = [
    { ...local, hints: forZones('south') },
    { ...remote, hints: forZones('north', 'east') },
  ];
  assert.deepEqual((await backends(endpoints, {}, 'north')).inside, ['10.1.2.2']);
  assert.deepEqual((await backends(endpoints, {}, 'south')).inside, ['10.1.1.2']);
});

test('zone hints are ignored if one ready endpoint has none, or none is for the zone', async () => {
  const north = { ...remote, hints: forZones('north') };
  const both = ['10.1.1.2', '10.1.2.2'];
  assert.deepEqual((await backends([local, north], {}, 'north')).inside, both);
  const south = { ...local, hints: forZones('south') };
  assert.deepEqual((await backends([south, north], {}, 'east')).inside, both);
  assert.deepEqual((await backends([south, north], {}, '')).inside, both, 'zone unknown');
  const starting = { ...local, ...notReady };
  const other = endpoint('10.1.3.2', { hints: forZones('south') });
  const hinted = await backends([starting, north, other], {}, 'north');
  assert.deepEqual(hinted.inside, ['10.1.2.2'], 'only ready endpoints need hints');
});

test('node hints precede zone hints, which are used if no endpoint is for the node', async () => {
  const on = (address: string, node: string, zone: string) =>
    endpoint(address, { hints: { ...forNodes(node), ...forZones(zone) } });
  const endpoints = [
    on('10.1.1.2', 'node-a', 'north'),
    on('10.1.2.2', 'node-b', 'north'),
    on('10.1.3.2', 'node-c', 'south'),
  ];
  assert.deepEqual((await backends(endpoints, {}, 'north')).inside, ['10.1.1.2']);
  assert.deepEqual((await backends(endpoints.slice(1), {}, 'north')).inside, ['10.1.2.2']);
  const incomplete = [endpoints[0]!, endpoint('10.1.2.2', { hints: forZones('north') })];
  assert.deepEqual((await backends(incomplete, {}, 'north')).inside, ['10.1.1.2', '10.1.2.2']);
});

test('hints have no effect on the policy Local', async () => {
  const endpoints = [local, endpoint('10.1.1.3')].map((one, at) => ({
    ...one,
    hints: forZones(at === 0 ? 'north' : 'south'),
  }));
  const policy = { externalTrafficPolicy: 'Local' } as const;
  assert.deepEqual(await backends(endpoints, policy, 'north'), {
    inside: ['10.1.1.2'],
    outside: ['10.1.1.2', '10.1.1.3'],
  });
});

test('named target ports differ between pods', async () => {
  const slices = [
    slice([local], { name: 'web-1' }),
    slice([remote], {
      name: 'web-2',
      ports: [{ name: 'http', port: 9090, protocol: 'TCP' as const }],
    }),
  ];
  const found = backendsOf(await processed([service()], slices));
  assert.deepEqual(found[CLUSTER]?.toSorted(), ['10.1.1.2:8080', '10.1.2.2:9090']);
});

test('endpoints belong to the port with the same name and protocol', async () => {
  const ports = [port(), port({ name: 'dns', protocol: 'UDP', port: 53 })];
  const endpointPorts = [
    { name: 'http', port: 8080, protocol: 'TCP' as const },
    { name: 'dns', port: 5353, protocol: 'TCP' as const },
  ];
  assert.deepEqual(
    backendsOf(await processed([service({ ports })], [slice([local], { ports: endpointPorts })])),
    { [CLUSTER]: ['10.1.1.2:8080'], 'UDP 10.96.0.9:53': [] },
  );
});

test('the place of a backend follows from its node name, else from its address', async () => {
  const { nodeName: _, ...unnamed } = endpoint('10.1.1.5');
  const endpoints = [
    endpoint('10.1.1.2'),
    endpoint('10.1.2.2'),
    unnamed,
    endpoint('192.168.16.1', { nodeName: 'node-a' }),
    endpoint('10.20.0.1'),
    endpoint('10.20.0.2'),
    endpoint('172.16.0.5'),
  ];
  const processor = await processed([service()], [slice(endpoints)]);
  const { backends: found = [] } = processor.rendered().get('shop/web')?.addresses[0] ?? {};
  const where = Object.fromEntries(
    found.map(({ address, nodeName, isLocal, place }) => [
      address,
      `${isLocal ? 'local' : 'remote'} ${place} ${nodeName}`,
    ]),
  );
  assert.deepEqual(where, {
    '10.1.1.2': 'local pod node-a',
    '10.1.1.5': 'local pod node-a',
    '192.168.16.1': 'local node node-a',
    '10.20.0.1': 'local node node-a',
    '10.1.2.2': 'remote pod node-b',
    '10.20.0.2': 'remote node node-b',
    '172.16.0.5': 'remote outside ',
  });
});

test('endpoints with an address that none can have are skipped and reported', async () => {
  const endpoints = [local, endpoint('127.0.0.1'), endpoint('nowhere'), endpoint('224.0.0.1')];
  const processor = await processed([service()], [slice(endpoints)]);
  assert.deepEqual(backendsOf(processor), { [CLUSTER]: ['10.1.1.2:8080'] });
  assert.deepEqual(problemsOf(processor).get('shop/web')?.toSorted(), [
    'endpoint "127.0.0.1" is a loopback address',
    'endpoint "224.0.0.1" is a multicast address',
    'endpoint "nowhere" is not an address',
  ]);
});

test('local backends are first, and each node has its own order of the others', async () => {
  const remotes = Array.from({ length: 200 }, (_, at) => endpoint(`10.1.2.${at}`));
  const orderOf = async (name: string, endpoints: readonly KubeSliceEndpoint[]) => {
    const node = { ...localNode, name };
    return backendsOf(await processed([service()], [slice(endpoints)], { node }))[CLUSTER] ?? [];
  };
  const first = await orderOf('node-a', [...remotes, local]);
  assert.equal(first[0], '10.1.1.2:8080');
  const second = await orderOf('node-z', [...remotes, local]);
  assert.deepEqual(first.toSorted(), second.toSorted());
  const common = first.slice(0, 100).filter((one) => second.slice(0, 100).includes(one));
  assert.ok(common.length > 25 && common.length < 75, `${common.length} of 100 are the same`);
  const fewer = await orderOf('node-a', [...remotes.filter((_, at) => at % 3 !== 0), local]);
  assert.deepEqual(
    fewer,
    first.filter((one) => fewer.includes(one)),
    'the order is stable',
  );
});
