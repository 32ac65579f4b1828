/** Addresses as users and controllers write them into objects, from the JSON of the API server to the values of VPP. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { mergedSlices } from '#kubernetes/reflector/endpoints.ts';
import type { KubeEndpointSlice } from '#kubernetes/reflector/objects/endpoints.ts';
import { readObject } from '#kubernetes/reflector/objects/object.ts';
import { type ReflectedObject, reflect } from '#kubernetes/reflector/reflect.ts';
import { type AnyResource, resources } from '#kubernetes/resources/resources.ts';
import { startedNode } from './ipv4net/wired-node.ts';
import { type Keyword, type KubeValue, vppNodeValue } from './test-node.ts';

/** The value that the agent reads from the record of an object. */
function recordOf(input: object): KubeValue {
  const { object, rejection } = readObject(input);
  assert.equal(rejection, undefined, rejection?.reason);
  if (object!.kind === 'EndpointSlice') {
    const value = mergedSlices({ name: 'web', namespace: 'shop' }, [object as KubeEndpointSlice]);
    return { resource: 'endpoints', key: resources.endpoints.key('web', 'shop'), value };
  }
  const { reflected } = reflect(object as ReflectedObject, 'own');
  const { key, value } = reflected!;
  const { keyword, model }: AnyResource = reflected!.resource;
  return { resource: keyword as Keyword, key, value: model.parse(model.toJson(value)) };
}

it('leading zeros and IPv4 in IPv6 are served, routed and used as the API server reads them', async () => {
  const node = await startedNode();
  await node.put(
    recordOf({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'shop' },
      spec: {
        clusterIP: '10.96.002.004',
        externalIPs: ['203.000.113.010', '::ffff:203.0.113.11'],
        ports: [{ port: 80 }],
      },
    }),
  );
  await node.put(
    recordOf({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: 'web-1',
        namespace: 'shop',
        labels: { 'kubernetes.io/service-name': 'web' },
      },
      addressType: 'IPv4',
      ports: [{ port: 8080 }],
      endpoints: [{ addresses: ['10.001.001.002'], conditions: { ready: true } }],
    }),
  );
  assert.deepEqual([...node.services.serviceProblems()], []);
  const { addresses } = node.services.renderedServices().get('shop/web')!;
  assert.deepEqual(
    addresses.map(({ address, backends }) => `${address} ${backends.map((one) => one.address)}`),
    ['10.96.2.4 10.1.1.2', '203.0.113.10 10.1.1.2', '203.0.113.11 10.1.1.2'],
  );
  await node.put(vppNodeValue(2, 'node-b', '192.168.016.002/024'));
  await node.put(
    recordOf({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'node-b' },
      status: { addresses: [{ type: 'InternalIP', address: '172.016.000.006' }] },
    }),
  );
  assert.ok(
    [...node.config.keys()].some((key) => key.includes('/dst/172.16.0.6/32/')),
    'a route to the node',
  );
});
