import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type AnyResource,
  parseResourceKey,
  REFLECTOR_PREFIX,
  resourceList,
  resources,
} from '#kubernetes/resources/resources.ts';

test('keywords and prefixes are those of the original', () => {
  assert.equal(REFLECTOR_PREFIX, '/vnf-agent/contiv-ksr/');
  assert.deepEqual(
    resourceList.map(({ keyword, keyPrefix, model }) => [keyword, keyPrefix, model.typeName]),
    [
      ['vppnode', 'allocatedIDs/', 'vppnode.VppNode'],
      ['nodeconfig', 'k8s/nodeconfig/', 'model.NodeConfig'],
      ['node', 'k8s/node/', 'node.Node'],
      ['pod', 'k8s/pod/', 'pod.Pod'],
      ['namespace', 'k8s/namespace/', 'namespace.Namespace'],
      ['policy', 'k8s/policy/', 'policy.Policy'],
      [
        'clusternetworkpolicy',
        'k8s/clusternetworkpolicy/',
        'clusternetworkpolicy.ClusterNetworkPolicy',
      ],
      ['service', 'k8s/service/', 'service.Service'],
      ['endpoints', 'k8s/endpoints/', 'endpoints.Endpoints'],
      ['customnetwork', 'k8s/customnetwork/', 'model.CustomNetwork'],
      ['external-interface', 'k8s/external-interface/', 'model.ExternalInterface'],
      ['servicefunctionchain', 'k8s/servicefunctionchain/', 'model.ServiceFunctionChain'],
      ['custom-ipam', 'custom-ipam/', 'ipalloc.CustomIPAllocation'],
      ['idalloc', 'idalloc/', 'idallocation.AllocationPool'],
    ],
  );
});

test('keys are those of the original', () => {
  assert.equal(resources.pod.key('web', 'shop'), 'k8s/pod/web/namespace/shop');
  assert.equal(resources.namespace.key('shop', ''), 'k8s/namespace/shop');
  assert.equal(resources.vppnode.key('7', ''), 'allocatedIDs/7');
  assert.equal(resources['custom-ipam'].key('web', 'shop'), 'custom-ipam/web/shop');
  assert.equal(resources.idalloc.key('vni', ''), 'idalloc/vni');
});

test('the key of a value is built from its names', () => {
  const names = { name: 'web', namespace: 'shop' };
  const namespaced: AnyResource[] = [resources.pod, resources.policy, resources.service];
  for (const { keyword, model, key } of namespaced) {
    assert.equal(model.key(model.canonical(names)), key('web', 'shop'), keyword);
  }
  const { vppnode } = resources;
  assert.equal(vppnode.model.key(vppnode.model.canonical({ id: 7 })), vppnode.key('7', ''));
});

test('a key is parsed to its resource and names', () => {
  const name = fc.stringMatching(/^[1-9][a-z0-9.-]{0,20}$/);
  fc.assert(
    fc.property(fc.constantFrom(...resourceList), name, name, (resource, one, other) => {
      const named = resource.keyword === 'vppnode' ? String(one.length) : one;
      const key = resource.key(named, other);
      const parsed = parseResourceKey(key);
      assert.equal(parsed?.resource, resource);
      assert.equal(resource.keyPrefix + parsed?.rest, key);
      const names = resource.parseKey(key);
      assert.equal(names?.name, named);
      assert.equal(resource.key(named, names?.namespace ?? ''), key);
    }),
  );
});

test('other keys belong to no resource', () => {
  for (const key of [
    '',
    'k8s',
    'k8s/',
    'k8s/podx/a',
    'k8s/pods/a',
    'status/gauges',
    '/k8s/pod/a',
  ]) {
    assert.equal(parseResourceKey(key), undefined, key);
  }
  assert.equal(resources.pod.parseKey('k8s/pod/web'), undefined);
  assert.equal(resources.pod.parseKey('k8s/pod/web/namespace/'), undefined);
  assert.equal(resources.pod.parseKey('k8s/service/web/namespace/shop'), undefined);
  assert.equal(resources.vppnode.parseKey('allocatedIDs/first'), undefined);
  assert.equal(resources.vppnode.parseKey('allocatedIDs/0'), undefined);
});
