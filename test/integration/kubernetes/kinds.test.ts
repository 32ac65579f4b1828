/** Objects of each kind, created, changed and deleted with kubectl: etcd and an agent follow. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import { withoutKubernetes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { Reflection } from '../support/reflection.ts';

interface ObjectCase {
  readonly title: string;
  readonly manifest: string;
  /** Arguments of kubectl; each changes the record. */
  readonly changes: readonly (readonly string[])[];
  /** Arguments of `kubectl delete`. */
  readonly deletion: readonly string[];
  /** Without the reflector's prefix. */
  readonly key: string;
}

const statusPatch = (object: readonly string[], status: unknown) => [
  'patch',
  ...object,
  '--subresource=status',
  '--type=merge',
  `--patch=${JSON.stringify({ status })}`,
];
const specPatch = (object: readonly string[], spec: unknown) => [
  'patch',
  ...object,
  '--type=merge',
  `--patch=${JSON.stringify({ spec })}`,
];

const cases: readonly ObjectCase[] = [
  {
    title: 'a pod',
    manifest: `
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default, labels: {app: web}}
spec: {nodeName: node-a, containers: [{name: web, image: web, ports: [{containerPort: 80}]}]}`,
    changes: [
      statusPatch(['pod', 'web'], { podIP: '10.1.1.2', podIPs: [{ ip: '10.1.1.2' }] }),
      ['label', 'pod', 'web', 'tier=front'],
      ['label', 'pod', 'web', 'tier-'],
    ],
    deletion: ['pod', 'web', '--grace-period=0', '--force'],
    key: 'k8s/pod/web/namespace/default',
  },
  {
    title: 'a network policy',
    manifest: `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web, namespace: default}
spec: {podSelector: {matchLabels: {app: web}}, ingress: [{}]}`,
    changes: [
      specPatch(['networkpolicy', 'web'], { ingress: [] }),
      specPatch(['networkpolicy', 'web'], { policyTypes: ['Ingress', 'Egress'] }),
    ],
    deletion: ['networkpolicy', 'web'],
    key: 'k8s/policy/web/namespace/default',
  },
  {
    title: 'a service',
    manifest: `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}`,
    changes: [
      statusPatch(['service', 'web'], { loadBalancer: { ingress: [{ ip: '203.0.113.9' }] } }),
      specPatch(['service', 'web'], { externalTrafficPolicy: 'Local' }),
      specPatch(['service', 'web'], { ports: [{ port: 81 }] }),
    ],
    deletion: ['service', 'web'],
    key: 'k8s/service/web/namespace/default',
  },
  {
    title: 'endpoints',
    manifest: `
apiVersion: v1
kind: Endpoints
metadata: {name: manual, namespace: default}
subsets: [{addresses: [{ip: 10.1.1.2}], ports: [{port: 80, protocol: TCP}]}]`,
    changes: [
      [
        'patch',
        'endpoints',
        'manual',
        '--type=merge',
        `--patch=${JSON.stringify({
          subsets: [{ addresses: [{ ip: '10.1.1.3' }], ports: [{ port: 80, protocol: 'TCP' }] }],
        })}`,
      ],
    ],
    deletion: ['endpoints', 'manual'],
    key: 'k8s/endpoints/manual/namespace/default',
  },
  {
    title: 'an endpoint slice',
    manifest: `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-x, namespace: default, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: "", port: 8080, protocol: TCP}]
endpoints: [{addresses: [10.1.1.2], conditions: {ready: true}}]`,
    changes: [
      [
        'patch',
        'endpointslice',
        'web-x',
        '--type=merge',
        `--patch=${JSON.stringify({
          endpoints: [{ addresses: ['10.1.1.2'], conditions: { ready: false } }],
        })}`,
      ],
    ],
    deletion: ['endpointslice', 'web-x'],
    key: 'k8s/endpoints/web/namespace/default',
  },
  {
    title: 'a node',
    manifest: `
apiVersion: v1
kind: Node
metadata: {name: node-a}`,
    changes: [
      statusPatch(['node', 'node-a'], {
        addresses: [{ type: 'InternalIP', address: '192.168.16.1' }],
      }),
      specPatch(['node', 'node-a'], { podCIDR: '10.1.1.0/24', podCIDRs: ['10.1.1.0/24'] }),
    ],
    deletion: ['node', 'node-a'],
    key: 'k8s/node/node-a',
  },
];

describe('contiv-ksr at a kube-apiserver', { skip: withoutKubernetes(), timeout: 240_000 }, () => {
  let reflection: Reflection;
  before(async () => {
    reflection = await Reflection.start();
  });
  after(() => reflection?.[Symbol.asyncDispose]());

  const record = async (key: string) =>
    (await reflection.assertConverges()).get(`${REFLECTOR_PREFIX}${key}`);

  it('reflects what the API server has made itself', async () => {
    await until('the service of the API server exists', async () =>
      reflection.client.get('/api/v1/namespaces/default/services/kubernetes').then(
        () => true,
        () => false,
      ),
    );
    assert.ok(await record('k8s/service/kubernetes/namespace/default'));
    assert.ok(await record('k8s/namespace/kube-system'));
  });

  for (const { title, manifest, changes, deletion, key } of cases)
    it(`reflects ${title}, its changes and its deletion`, async () => {
      const { apiServer } = reflection;
      apiServer.apply(manifest);
      const seen = [await record(key)];
      assert.ok(seen[0]);
      for (const change of changes) {
        apiServer.kubectl(...change);
        const text = await record(key);
        assert.notEqual(text, seen.at(-1), `after kubectl ${change.join(' ')}`);
        seen.push(text);
      }
      apiServer.kubectl('delete', ...deletion);
      assert.equal(await record(key), undefined);
    });

  it('reflects a namespace, its labels, and its deletion with all that is in it', async () => {
    const { apiServer } = reflection;
    apiServer.kubectl('create', 'namespace', 'shop');
    const plain = await record('k8s/namespace/shop');
    assert.ok(plain);
    apiServer.kubectl('label', 'namespace', 'shop', 'team=retail');
    assert.notEqual(await record('k8s/namespace/shop'), plain);
    for (const { manifest } of cases.filter((each) => each.manifest.includes('namespace: default')))
      apiServer.apply(manifest.replace('namespace: default', 'namespace: shop'));
    assert.ok(await record('k8s/pod/web/namespace/shop'));
    await apiServer.deleteNamespace('shop');
    const left = [...(await reflection.assertConverges()).keys()];
    assert.deepEqual(
      left.filter((key) => /\/namespace\/shop$/.test(key)),
      [],
    );
  });
});
