import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { endpointsModel } from '#kubernetes/models/endpoints.ts';
import { endpointsValue, mergedSlices } from '#kubernetes/reflector/endpoints.ts';
import type {
  KubeEndpointSlice,
  KubeSliceEndpoint,
} from '#kubernetes/reflector/objects/endpoints.ts';
import { readObject } from '#kubernetes/reflector/objects/object.ts';
import type { Readers } from '#kubernetes/reflector/reflected.ts';

const service = { name: 'web', namespace: 'shop' };

function slice(
  name: string,
  endpoints: readonly KubeSliceEndpoint[],
  more: Partial<KubeEndpointSlice> = {},
): KubeEndpointSlice {
  return {
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: [...endpoints],
    ...more,
  };
}

function endpoint(ip: string, more: Partial<KubeSliceEndpoint> = {}): KubeSliceEndpoint {
  const targetRef = { kind: 'Pod', namespace: 'shop', name: `pod-${ip}` };
  return { addresses: [ip], conditions: { ready: true }, targetRef, ...more };
}

const json = (...slices: KubeEndpointSlice[]): unknown =>
  endpointsModel.toJson(mergedSlices(service, slices));

test('a slice gives the same value as the Endpoints object of its service', () => {
  const targetRef = { kind: 'Pod', namespace: 'shop', name: 'web-1', uid: '7' };
  const merged = mergedSlices(service, [
    slice('web-x', [
      { addresses: ['10.1.1.10'], conditions: { ready: false } },
      {
        addresses: ['10.1.1.2'],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: 'node-a',
        hostname: 'web-1',
        targetRef,
      },
    ]),
  ]);
  assert.deepEqual(
    merged,
    endpointsValue({
      kind: 'Endpoints',
      metadata: service,
      subsets: [
        {
          addresses: [{ ip: '10.1.1.2', nodeName: 'node-a', hostname: 'web-1', targetRef }],
          notReadyAddresses: [{ ip: '10.1.1.10' }],
          ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
        },
      ],
    }),
  );
});

test('missing conditions have the defaults of Kubernetes', () => {
  assert.deepEqual(json(slice('a', [{ addresses: ['10.1.1.2'] }])), {
    name: 'web',
    namespace: 'shop',
    endpoint_subsets: [
      { addresses: [{ ip: '10.1.1.2' }], ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] },
    ],
  });
});

test('a terminating backend is not ready, and marked while it still serves', () => {
  const leaving = (serving: boolean) =>
    endpoint('10.1.1.2', { conditions: { ready: false, serving, terminating: true } });
  const { endpoint_subsets } = mergedSlices(service, [slice('a', [leaving(true)])]);
  assert.deepEqual(endpoint_subsets[0]?.addresses, []);
  assert.equal(endpoint_subsets[0]?.not_ready_addresses[0]?.serving_while_terminating, true);
  assert.deepEqual(mergedSlices(service, [slice('a', [leaving(false)])]).endpoint_subsets, []);
});

test('while others are ready, a terminating backend is written for own readers only', () => {
  const conditions = { ready: false, serving: true, terminating: true };
  const rolling = [
    slice('a', [endpoint('10.1.1.2', { conditions }), endpoint('10.1.1.3')]),
    slice('b', [endpoint('10.1.1.2', { conditions })], { ports: [{ name: 'b', port: 81 }] }),
  ];
  const leaving = (readers: Readers): unknown =>
    mergedSlices(service, rolling, readers).endpoint_subsets.map(
      ({ ports, not_ready_addresses }) => [
        ports.map(({ name }) => name).join(),
        not_ready_addresses.map(({ ip }) => ip).join(),
      ],
    );
  assert.deepEqual(leaving('mixed'), [
    ['b', '10.1.1.2'],
    ['http', ''],
  ]);
  assert.deepEqual(leaving('own'), [
    ['b,http', '10.1.1.2'],
    ['http', ''],
  ]);
});

test('an endpoint that its service publishes always is ready, also while its pod terminates', () => {
  const conditions = { ready: true, serving: false, terminating: true };
  const { endpoint_subsets } = mergedSlices(service, [
    slice('a', [endpoint('10.1.1.2', { conditions })]),
  ]);
  assert.deepEqual(
    endpoint_subsets[0]?.addresses.map(({ ip }) => ip),
    ['10.1.1.2'],
  );
  assert.deepEqual(endpoint_subsets[0]?.not_ready_addresses, []);
});

test('hints are for own readers, host names are not backends', () => {
  const hints = { forZones: [{ name: 'north' }, { name: 'east' }], forNodes: [{ name: 'node-a' }] };
  const slices = [
    slice('a', [endpoint('10.1.1.2', { hints })]),
    slice('b', [{ addresses: ['db.example.com'] }], { addressType: 'FQDN' }),
  ];
  const hinted = (readers: Readers): unknown => {
    const { endpoint_subsets } = mergedSlices(service, slices, readers);
    assert.equal(endpoint_subsets.length, 1);
    const address = endpoint_subsets[0]?.addresses[0];
    return [address?.for_zones, address?.for_nodes];
  };
  assert.deepEqual(hinted('own'), [['north', 'east'], ['node-a']]);
  assert.deepEqual(hinted('mixed'), [[], []]);
});

test('the last time that Kubernetes wrote for a change is for own readers', () => {
  const at = (name: string, time: string) =>
    slice(name, [endpoint('10.1.1.2')], {
      metadata: {
        name,
        annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': time },
      },
    });
  const slices = [
    at('a', '2026-01-01T00:00:09.5Z'),
    at('b', '2026-01-01T00:00:10Z'),
    at('c', 'no time'),
    slice('d', []),
  ];
  const time = (readers: Readers) =>
    mergedSlices(service, slices, readers).last_change_trigger_time;
  assert.equal(time('own'), '2026-01-01T00:00:10Z');
  assert.equal(time('mixed'), '');
});

test('a backend in several slices has the ports of all, each in its best state', () => {
  const grpc = { ports: [{ name: 'grpc', port: 9000, protocol: 'TCP' as const }] };
  const { endpoint_subsets } = mergedSlices(service, [
    slice('a', [endpoint('10.1.1.2', { conditions: { ready: false } }), endpoint('10.1.1.3')]),
    slice('b', [endpoint('10.1.1.2')]),
    slice('c', [endpoint('10.1.1.2', { conditions: { ready: false } })], grpc),
  ]);
  assert.deepEqual(
    endpoint_subsets.map((subset) => [
      subset.ports.map(({ name }) => name),
      subset.addresses.map(({ ip }) => ip),
      subset.not_ready_addresses.map(({ ip }) => ip),
    ]),
    [
      [['grpc'], [], ['10.1.1.2']],
      [['http'], ['10.1.1.2', '10.1.1.3'], []],
    ],
  );
});

test('addresses are sorted as numbers, the families apart', () => {
  const merged = mergedSlices(service, [
    slice('six', [endpoint('fd00::2')], { addressType: 'IPv6' }),
    slice('four', [endpoint('10.1.1.10'), endpoint('10.1.1.9')]),
  ]);
  assert.deepEqual(
    merged.endpoint_subsets.map(({ addresses }) => addresses.map(({ ip }) => ip)),
    [['10.1.1.9', '10.1.1.10'], ['fd00::2']],
  );
});

test('neither the order of slices nor the distribution of backends over them matters', () => {
  const anyEndpoint = fc.record({
    ip: fc.integer({ min: 1, max: 12 }).map((n) => `10.1.1.${n}`),
    ready: fc.boolean(),
    port: fc.constantFrom(80, 443),
  });
  fc.assert(
    fc.property(
      fc.uniqueArray(anyEndpoint, { selector: ({ ip, port }) => `${ip}:${port}`, maxLength: 12 }),
      fc.infiniteStream(fc.nat(3)),
      fc.infiniteStream(fc.nat()),
      (endpoints, spread, order) => {
        const one = (name: string, port: number, chosen: typeof endpoints) =>
          slice(
            name,
            chosen.map(({ ip, ready }) => endpoint(ip, { conditions: { ready } })),
            { ports: [{ name: `p${port}`, port, protocol: 'TCP' }] },
          );
        const byPort = (port: number) => endpoints.filter((each) => each.port === port);
        const whole = [one('x', 80, byPort(80)), one('y', 443, byPort(443))];
        const parts = endpoints
          .map((each) => ({ each, place: spread.next().value as number }))
          .map(({ each, place }, n) => one(`s${place}-${n}`, each.port, [each]));
        const shuffled = parts
          .map((part) => ({ part, rank: order.next().value as number }))
          .sort((a, b) => a.rank - b.rank)
          .map(({ part }) => part);
        assert.deepEqual(mergedSlices(service, shuffled), mergedSlices(service, whole));
      },
    ),
  );
});

test('a slice without a service is rejected', () => {
  const { rejection } = readObject({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'orphan', namespace: 'shop' },
    addressType: 'IPv4',
  });
  assert.match(rejection?.reason ?? '', /kubernetes\.io\/service-name/);
});

test('a port with a number that no connection can have is ignored, and the rest of the slice is not', () => {
  for (const port of [70_000, 0, -1]) {
    const one = slice('a', [endpoint('10.1.1.2')], {
      ports: [
        { name: 'http', port: 8080, protocol: 'TCP' },
        { name: 'bad', port, protocol: 'TCP' },
      ],
    });
    const { object, rejection } = readObject({ apiVersion: 'discovery.k8s.io/v1', ...one });
    assert.equal(rejection, undefined);
    assert.deepEqual(json(object as KubeEndpointSlice), json(slice('a', [endpoint('10.1.1.2')])));
  }
});
