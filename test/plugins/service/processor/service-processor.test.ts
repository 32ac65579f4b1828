import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import { nodeModel } from '#kubernetes/models/node.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { absentNode } from '#plugins/service/processor/other-nodes.ts';
import { ServiceProcessor } from '#plugins/service/processor/service-processor.ts';
import {
  backendsOf,
  endpoint,
  localNode,
  notReady,
  port,
  processed,
  recordsOf,
  service,
  slice,
  terminating,
} from '../service-objects.ts';

const slices = new Slices(new ManualClock());
const endpointsKey = resources.endpoints.key('web', 'shop');

test('endpoints that come before their service are used when it comes', async () => {
  const processor = await processed([], [slice([endpoint('10.1.1.2')])]);
  const key = resources.service.key('web', 'shop');
  const current = recordsOf([service()], []).get('service')?.get(key);
  await processor.change({ resource: 'service', key, current }, slices);
  assert.deepEqual(backendsOf(processor), { 'TCP 10.96.0.9:80': ['10.1.1.2:8080'] });
});

test('a change that renders nothing else is no change', async () => {
  const processor = await processed([service()], [slice([endpoint('10.1.1.2')])]);
  const before = processor.rendered().get('shop/web');
  const current = recordsOf([], [slice([endpoint('10.1.1.2'), endpoint('10.1.2.2', notReady)])])
    .get('endpoints')
    ?.get(endpointsKey);
  const change = await processor.change(
    { resource: 'endpoints', key: endpointsKey, current },
    slices,
  );
  assert.equal(change.services.size, 0);
  assert.equal(processor.rendered().get('shop/web'), before);
});

test('a change of the zone of this node changes the services with hints only', async () => {
  const hinted = (address: string, zone: string) =>
    endpoint(address, { hints: { forZones: [{ name: zone }] } });
  const processor = await processed(
    [service(), service({ name: 'other', clusterIP: '10.96.0.10' })],
    [
      slice([hinted('10.1.1.2', 'north'), hinted('10.1.2.2', 'south')]),
      slice([endpoint('10.1.1.3')], { of: 'other' }),
    ],
    { zone: 'north' },
  );
  const move = (name: string) => ({
    resource: 'node',
    key: resources.node.key(name, ''),
    current: nodeModel.canonical({ name, zone: 'south' }),
  });
  const other = await processor.change(move('node-b'), slices);
  assert.equal(other.services.size, 0, 'the zone of another node');
  const own = await processor.change(move('node-a'), slices);
  assert.deepEqual([...own.services.keys()], ['shop/web']);
  assert.deepEqual(backendsOf(processor)['TCP 10.96.0.9:80'], ['10.1.2.2:8080']);
});

test('a new address of this node changes the services with node ports only', async () => {
  const processor = await processed([
    service(),
    service({
      name: 'door',
      clusterIP: '10.96.0.10',
      type: 'NodePort',
      ports: [port({ nodePort: 30_080 })],
    }),
  ]);
  const change = await processor.setNode({ ...localNode, addresses: ['192.168.16.7'] }, slices);
  assert.deepEqual([...change.services.keys()], ['shop/door']);
  const addresses = processor
    .rendered()
    .get('shop/door')
    ?.addresses.map((one) => one.address);
  assert.deepEqual(addresses, ['10.96.0.10', '192.168.16.7']);
});

test('an endpoint without a node name is on another node once the address of that is known', async () => {
  const processor = await processed(
    [service(), service({ name: 'other', clusterIP: '10.96.0.10' })],
    [slice([endpoint('172.16.0.5')]), slice([endpoint('10.1.2.2')], { of: 'other' })],
  );
  const place = () => {
    const [backend] = processor.rendered().get('shop/web')?.addresses[0]?.backends ?? [];
    return `${backend?.place} ${backend?.nodeName}`;
  };
  assert.equal(place(), 'outside ');
  const addresses = ['172.16.0.5'];
  const joined = await processor.setOtherNodes(
    [{ ...absentNode('node-c'), routedAddresses: addresses, addresses }],
    slices,
  );
  assert.deepEqual([...joined.services.keys()], ['shop/web']);
  assert.equal(place(), 'node node-c');
  const left = await processor.setOtherNodes([absentNode('node-c')], slices);
  assert.deepEqual([...left.services.keys()], ['shop/web']);
  assert.equal(place(), 'outside ');
});

test('the health check of a load balancer counts the ready endpoints of this node once', async () => {
  const ports = [
    { name: 'http', port: 8080, protocol: 'TCP' as const },
    { name: 'admin', port: 9090, protocol: 'TCP' as const },
  ];
  const endpoints = [
    endpoint('10.1.1.2'),
    endpoint('10.1.1.3', notReady),
    endpoint('10.1.1.4', terminating),
    endpoint('10.1.2.2'),
  ];
  const balanced = { type: 'LoadBalancer', healthCheckNodePort: 31_000 } as const;
  const checks = async (externalTrafficPolicy: 'Cluster' | 'Local') => {
    const objects = [service({ ...balanced, externalTrafficPolicy })];
    return [...(await processed(objects, [slice(endpoints, { ports })])).healthChecks()];
  };
  assert.deepEqual(await checks('Local'), [['shop/web', { port: 31_000, localEndpoints: 1 }]]);
  assert.deepEqual(await checks('Cluster'), []);
});

test('a description names node, pod and state of each endpoint, and why it is not used', async () => {
  const endpoints = [
    endpoint('10.1.1.2'),
    endpoint('10.1.2.2'),
    endpoint('10.1.1.3', notReady),
    endpoint('10.1.1.4', terminating),
  ];
  const local = service({ internalTrafficPolicy: 'Local' });
  const processor = await processed([local], [slice(endpoints)]);
  const { backends = [] } = processor.describe('shop/web')?.addresses[0] ?? {};
  assert.deepEqual(backends[0], {
    address: '10.1.1.2',
    port: 8080,
    nodeName: 'node-a',
    pod: 'shop/pod-10.1.1.2',
    isLocal: true,
    state: 'ready',
    whyNotUsed: undefined,
  });
  const reasons = backends.map(({ address, state, whyNotUsed }) => [address, state, whyNotUsed]);
  assert.deepEqual(reasons.slice(1).toSorted(), [
    ['10.1.1.3', 'not-ready', 'it is not ready'],
    ['10.1.1.4', 'terminating', 'it terminates, and another endpoint is ready'],
    ['10.1.2.2', 'ready', 'it is not on this node, and the traffic policy is Local'],
  ]);
  assert.equal(processor.describe('shop/missing'), undefined);
});

test('among 1,000 services, a change of endpoints touches one', async () => {
  const processor = await ServiceProcessor.read(manyRecords(1_000, 10), localNode, slices);
  assert.equal(processor.rendered().size, 1_000);
  const before = new Map(processor.rendered());
  const key = resources.endpoints.key('s77', 'shop');
  const current = manyRecords(100, 9).get('endpoints')?.get(key);
  const change = await processor.change({ resource: 'endpoints', key, current }, slices);
  assert.deepEqual([...change.services.keys()], ['shop/s77']);
  const after = processor.rendered();
  assert.equal([...after].filter(([name, one]) => one !== before.get(name)).length, 1);
});

test('a service with thousands of endpoints is rendered with turns of the event loop in between', async () => {
  /** Each step takes a millisecond. */
  class SlowSteps extends ManualClock {
    turns = 0;
    #reads = 0;
    override monotonic(): number {
      return this.#reads++;
    }
    override turn(): Promise<void> {
      this.turns++;
      return super.turn();
    }
  }
  const processor = await ServiceProcessor.read(manyRecords(1, 1), localNode, slices);
  const key = resources.endpoints.key('s0', 'shop');
  const clock = new SlowSteps();
  const turnsFor = async (endpoints: number): Promise<number> => {
    const before = clock.turns;
    const all = Array.from({ length: endpoints }, (_, n) =>
      endpoint(`10.1.${1 + Math.floor(n / 200)}.${2 + (n % 200)}`),
    );
    const current = recordsOf([], [slice(all, { of: 's0' })])
      .get('endpoints')
      ?.get(key);
    await processor.change({ resource: 'endpoints', key, current }, new Slices(clock));
    assert.equal(processor.rendered().get('shop/s0')?.addresses[0]?.backends.length, endpoints);
    return clock.turns - before;
  };
  const few = await turnsFor(2);
  const many = await turnsFor(5_000);
  assert.ok(many > few + 2, `${few} turns, then ${many}`);
});

function manyRecords(services: number, endpoints: number) {
  const objects = [];
  const endpointSlices = [];
  for (let at = 0; at < services; at++) {
    const name = `s${at}`;
    objects.push(service({ name, clusterIP: `10.96.${at >> 8}.${at & 255}` }));
    const some = Array.from({ length: endpoints }, (_, n) =>
      endpoint(`10.1.${(n % 3) + 1}.${2 + ((at + n) % 250)}`),
    );
    endpointSlices.push(slice(some, { of: name }));
  }
  return recordsOf(objects, endpointSlices);
}

test('node ports of other nodes with the policy Local have the backends of that node, at addresses of it alone', async () => {
  const web = service({
    type: 'NodePort',
    ports: [port({ nodePort: 30_080 })],
    externalTrafficPolicy: 'Local',
  });
  const gone = { conditions: { ready: false } };
  const endpoints = [
    endpoint('10.1.1.2'),
    endpoint('10.1.2.2'),
    endpoint('10.1.2.3', terminating),
    endpoint('10.1.3.2', gone),
  ];
  const processor = await processed([web], [slice(endpoints)]);
  const found = () =>
    Object.fromEntries(
      (processor.rendered().get('shop/web')?.atOtherNodes ?? []).map((one) => [
        `${one.protocol} ${one.address}:${one.port}`,
        one.backends.map(({ address }) => address),
      ]),
    );
  const all = {
    'TCP 10.20.0.2:30080': ['10.1.2.2'],
    'TCP 192.168.16.2:30080': ['10.1.2.2'],
  };
  assert.deepEqual(found(), all);
  const claims = { ...absentNode('node-c'), nodePortAddresses: ['192.168.16.2', 'fd00::3'] };
  assert.deepEqual(
    [...(await processor.setOtherNodes([claims], slices)).services.keys()],
    ['shop/web'],
  );
  assert.deepEqual(found(), { 'TCP 10.20.0.2:30080': ['10.1.2.2'] });
  await processor.setOtherNodes([absentNode('node-c')], slices);
  assert.deepEqual(found(), all);
  await processor.setOtherNodes([absentNode('node-b')], slices);
  assert.deepEqual(found(), {});
});
