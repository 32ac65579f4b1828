import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { answer, type Route, type RouteResponse } from '#infra/http/route.ts';
import { serviceRoutes } from '#plugins/service/rest.ts';
import { startedNode } from '../ipv4net/wired-node.ts';
import type { TestNode } from '../test-node.ts';
import { endpointsValue, localPod, remotePod, serviceValue } from './service-values.ts';

const KEY = 'config/vpp/nat/v2/dnat44/default/web';

function routesOf(node: TestNode, actual: ReadonlyMap<string, object> = new Map()): Route[] {
  return serviceRoutes({
    services: node.services,
    healthChecks: { failures: () => new Map(), areLeftToKubeProxy: () => false },
    clock: systemClock,
    stateOf: (key) =>
      actual.has(key) ? { state: 'CONFIGURED' } : { state: 'FAILED', error: 'table full' },
    readActual: async (keys) => new Map([...actual].filter(([key]) => keys.has(key))),
  });
}

async function get(routes: Route[], path: string, params: Record<string, string> = {}) {
  const route = routes.find((one) => one.path === path)!;
  const response = await answer(route, { query: {}, params, body: undefined });
  return { status: response.status, body: await bodyOf(response) };
}

async function bodyOf({ body }: RouteResponse): Promise<unknown> {
  const isStream = typeof body === 'object' && body !== null && 'pipe' in body;
  return JSON.parse(isStream ? await text(body as Readable) : JSON.stringify(body));
}

const ONE = '/contiv/v1/services/:namespace/:name';

async function served(): Promise<TestNode> {
  const node = await startedNode();
  await node.put(serviceValue('web', '10.96.0.10', { internal_traffic_policy: 'Local' }));
  await node.put(endpointsValue('web', [localPod(2), remotePod(2)]));
  await node.put(serviceValue('members', 'None'));
  return node;
}

describe('GET /contiv/v1/services', () => {
  it('lists every service with its backends and its state in VPP', async () => {
    const node = await served();
    const { status, body } = await get(routesOf(node), '/contiv/v1/services');
    assert.equal(status, 200);
    const [members, web] = body as Record<string, unknown>[];
    assert.deepEqual(
      [members!['name'], members!['rendered'], members!['values']],
      ['default/members', false, []],
    );
    assert.deepEqual(web, {
      name: 'default/web',
      rendered: true,
      renderer: 'nat44',
      addresses: [
        {
          kind: 'cluster-ip',
          portName: 'http',
          address: '10.96.0.10',
          port: 80,
          protocol: 'TCP',
          policy: 'Local',
          backends: ['10.1.1.2:8080'],
          unusedBackends: 1,
        },
      ],
      problems: [],
      values: [{ key: KEY, state: 'FAILED', error: 'table full' }],
    });
  });

  it('shows one service with unused backends, and its mappings as desired and as in VPP', async () => {
    const node = await served();
    const desired = node.at(KEY);
    const document = (actual: ReadonlyMap<string, object>) =>
      get(routesOf(node, actual), ONE, { namespace: 'default', name: 'web' });
    const { body } = await document(new Map([[KEY, desired]]));
    const { renderer, values, addresses } = body as {
      renderer: string;
      values: unknown;
      addresses: { backends: { address: string; nodeName: string; whyNotUsed?: string }[] }[];
    };
    assert.equal(renderer, 'nat44');
    assert.deepEqual(values, [{ key: KEY, state: 'CONFIGURED', desired, actual: desired }]);
    const [used, unused] = addresses[0]!.backends;
    assert.deepEqual(
      [used!.address, used!.nodeName, used!.whyNotUsed],
      ['10.1.1.2', 'node-a', undefined],
    );
    assert.equal(unused!.address, '10.1.2.2');
    assert.match(unused!.whyNotUsed!, /node/);
    const { body: missing } = await document(new Map());
    assert.equal((missing as { values: { actual: unknown }[] }).values[0]!.actual, null);
  });

  it('does not know other names', async () => {
    const node = await served();
    const { status } = await get(routesOf(node), ONE, { namespace: 'default', name: 'db' });
    assert.equal(status, 404);
  });
});
