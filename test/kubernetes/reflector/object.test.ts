import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { clusterOf } from '#kubernetes/reflector/cluster.ts';
import { readManifests } from '#kubernetes/reflector/manifests.ts';
import { readObject } from '#kubernetes/reflector/objects/object.ts';

function reasonFor(object: unknown): string {
  const { rejection } = readObject(object);
  return rejection === undefined ? 'accepted' : rejection.reason;
}

const named = { metadata: { name: 'a', namespace: 'shop' } };
const service = { apiVersion: 'v1', kind: 'Service', ...named };
const policy = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', ...named };

test('an object of an unknown kind is rejected with its identity as far as known', () => {
  for (const input of [undefined, null, 7, 'Pod', [], [{}]]) {
    assert.deepEqual(readObject(input), {
      rejection: { kind: '', name: '', reason: 'not a Kubernetes object' },
    });
  }
  assert.equal(reasonFor({}), 'kind is missing');
  assert.equal(reasonFor({ kind: 'Pod' }), 'apiVersion is missing');
  assert.equal(reasonFor({ apiVersion: 'v1', kind: 'Pod' }), 'metadata.name is missing');
  assert.equal(
    reasonFor({ apiVersion: 'v1', kind: 'Pod', metadata: { generateName: 'a-' } }),
    'metadata.name is missing',
  );
  assert.deepEqual(readObject({ apiVersion: 'v1', kind: 'ConfigMap', ...named }).rejection, {
    kind: 'ConfigMap',
    name: 'shop/a',
    reason: 'objects of kind ConfigMap are not supported',
  });
});

test('a kind of the same name in another API group is another kind', () => {
  for (const apiVersion of ['serving.knative.dev/v1', 'apps/v1']) {
    assert.match(
      reasonFor({ ...service, apiVersion, spec: {} }),
      /^Service objects of .* are not supported/,
    );
  }
  const calico = { ...policy, apiVersion: 'crd.projectcalico.org/v1', spec: {} };
  assert.match(reasonFor(calico), /^NetworkPolicy objects of crd\..* are not supported/);
  assert.match(
    reasonFor({ ...named, apiVersion: 'v1', kind: 'toString' }),
    /kind toString are not supported/,
  );
});

test('the error names the first invalid field, its value and what is valid', () => {
  const withPorts = (...ports: unknown[]) => ({ ...service, spec: { ports } });
  assert.equal(
    reasonFor(withPorts({ port: 80 }, { port: 'http' })),
    'spec.ports[1].port is "http", must be integer',
  );
  assert.equal(
    reasonFor(withPorts({ port: 80, targetPort: {} })),
    'spec.ports[0].targetPort is {}, must be integer or must be string',
  );
  assert.equal(
    reasonFor(withPorts({ port: 80, protocol: 'ICMP' })),
    'spec.ports[0].protocol is "ICMP", must be one of TCP, UDP, SCTP',
  );
  assert.equal(
    reasonFor(withPorts({ port: 70000 })),
    'spec.ports[0].port is 70000, must be <= 65535',
  );
  assert.equal(reasonFor(service), 'must have spec');
  assert.equal(reasonFor(withPorts({})), 'spec.ports[0] must have port');
  assert.equal(
    reasonFor({ ...service, metadata: { name: 'a', labels: { 'x/y': 1 } }, spec: {} }),
    'metadata.labels.x/y is 1, must be string',
  );
  assert.match(
    reasonFor({ ...service, metadata: { name: 'a/b' }, spec: {} }),
    /^metadata\.name is "a\/b", must be a Kubernetes name$/,
  );
});

test('null means unset, and in a list an empty element', () => {
  const spec = { podSelector: null, policyTypes: null, ingress: [null] };
  const { object } = readObject({ ...policy, spec });
  assert.deepEqual(object, { ...policy, spec: { ingress: [{}] } });
});

test('any value in any field is handled', () => {
  const path = new URL('golden/ordinary.yaml', import.meta.url);
  const good = readManifests(readFileSync(path, 'utf8'), 'ordinary.yaml').objects;
  const options = {
    node: { name: 'node-a', address: '192.168.16.1' },
    serviceCidr: '10.96.0.0/12',
    readers: 'own' as const,
  };
  const odd = fc.oneof(
    fc.anything({ withNullPrototype: false }),
    fc.constantFrom('', '\ud800', '__proto__', -1, 1e99, Number.NaN, [[]], { __proto__: null }),
  );
  fc.assert(
    fc.property(fc.nat(), fc.array(fc.nat(), { maxLength: 8 }), odd, (which, way, value) => {
      const { object, source } = good[which % good.length]!;
      const changed = replaced(structuredClone(object), way, value);
      const { state, problems } = clusterOf([{ object: changed, source }], options);
      const made = Object.values(state).reduce((sum, keys) => sum + Object.keys(keys).length, 0);
      // the node of the cluster is always there
      assert.ok(made > 1 || problems.length > 0 || isThisNode(changed));
    }),
    { numRuns: 500 },
  );
});

function isThisNode(object: unknown): boolean {
  return (object as { metadata: { name: string } }).metadata.name === 'node-a';
}

/** Replaces a field of the object by the value: `way` selects a field on each level. */
function replaced(object: unknown, way: readonly number[], value: unknown): unknown {
  const [first, ...rest] = way;
  if (typeof object !== 'object' || object === null || first === undefined) return value;
  const fields = Object.keys(object);
  const field = fields[first % Math.max(1, fields.length)];
  if (field === undefined) return value;
  const holder = object as Record<string, unknown>;
  holder[field] = replaced(holder[field], rest, value);
  return holder;
}
