import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodTemplate, Workload } from '#kubernetes/reflector/objects/workload.ts';
import { podsOf } from '#kubernetes/reflector/workloads.ts';

const metadata = { name: 'web', namespace: 'shop' };
const template: PodTemplate = {
  metadata: { labels: { app: 'web' }, annotations: { 'contivpp.io/x': '1' } },
  spec: { containers: [{ name: 'main', ports: [{ name: 'http', containerPort: 80 }] }] },
};

const names = (workload: Workload): string[] =>
  podsOf(workload, ['node-a']).map((pod) => pod.metadata.name);

test('a deployment creates its replicas with stable names', () => {
  const deployment: Workload = { kind: 'Deployment', metadata, spec: { replicas: 3, template } };
  const made = podsOf(deployment, ['node-a']);
  const hash = made[0]?.metadata.labels?.['pod-template-hash'] ?? '';
  assert.match(hash, /^[bcdfghjklmnpqrstvwxz2456789]{10}$/);
  assert.deepEqual(names(deployment), [`web-${hash}-0`, `web-${hash}-1`, `web-${hash}-2`]);
  assert.deepEqual(podsOf(structuredClone(deployment), ['node-a']), made);
  assert.deepEqual(made[0]?.metadata.labels, { app: 'web', 'pod-template-hash': hash });
  assert.deepEqual(made[0]?.metadata.annotations, { 'contivpp.io/x': '1' });
  assert.equal(made[0]?.metadata.namespace, 'shop');
  assert.equal(made[0]?.spec?.nodeName, 'node-a');
  assert.equal(new Set(made.map((pod) => pod.metadata.uid)).size, 3);
  assert.match(
    made[0]?.metadata.uid ?? '',
    /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
});

test('another template creates other pods; another order of its fields does not', () => {
  const of = (one: PodTemplate): string[] =>
    names({ kind: 'Deployment', metadata, spec: { template: one } });
  const { spec, metadata: meta } = template;
  assert.deepEqual(of({ spec, metadata: meta! }), of(template));
  assert.notDeepEqual(of({ ...template, spec: { containers: [] } }), of(template));
});

test('the default number of replicas is one; zero creates none', () => {
  for (const kind of ['ReplicaSet', 'ReplicationController'] as const) {
    assert.deepEqual(names({ kind, metadata, spec: { template } }), ['web-0']);
    assert.deepEqual(names({ kind, metadata, spec: { replicas: 0, template } }), []);
  }
});

test('a stateful set gives its pods numbers and host names', () => {
  const spec = { replicas: 2, serviceName: 'members', ordinals: { start: 5 }, template };
  const made = podsOf({ kind: 'StatefulSet', metadata, spec }, ['node-a']);
  assert.deepEqual(
    made.map(({ metadata: { name, labels }, spec: { hostname, subdomain } = {} }) => [
      name,
      labels?.['apps.kubernetes.io/pod-index'],
      hostname,
      subdomain,
    ]),
    [
      ['web-5', '5', 'web-5', 'members'],
      ['web-6', '6', 'web-6', 'members'],
    ],
  );
});

test('a daemon set has one pod on the node', () => {
  assert.deepEqual(names({ kind: 'DaemonSet', metadata, spec: { template } }), ['web-0']);
});

test('a job creates the pods that run in parallel, and none while it is suspended', () => {
  const job = (spec: object): string[] =>
    names({ kind: 'Job', metadata, spec: { template, ...spec } });
  assert.deepEqual(job({}), ['web-0']);
  assert.deepEqual(job({ parallelism: 3 }), ['web-0', 'web-1', 'web-2']);
  assert.deepEqual(job({ parallelism: 3, completions: 2 }), ['web-0', 'web-1']);
  assert.deepEqual(job({ completions: 5 }), ['web-0']);
  assert.deepEqual(job({ parallelism: 3, suspend: true }), []);
  const [first] = podsOf({ kind: 'Job', metadata, spec: { template, completionMode: 'Indexed' } }, [
    'node-a',
  ]);
  assert.equal(first?.metadata.labels?.['batch.kubernetes.io/job-name'], 'web');
  assert.equal(first?.metadata.labels?.['batch.kubernetes.io/job-completion-index'], '0');
});

test('a cron job has one running job', () => {
  const jobTemplate = { spec: { template } };
  assert.deepEqual(names({ kind: 'CronJob', metadata, spec: { jobTemplate } }), ['web-run-0']);
  assert.deepEqual(names({ kind: 'CronJob', metadata, spec: { jobTemplate, suspend: true } }), []);
});

test('a template may specify another node', () => {
  const away = { ...template, spec: { ...template.spec, nodeName: 'node-b' } };
  const [pod] = podsOf({ kind: 'Deployment', metadata, spec: { template: away } }, ['node-a']);
  assert.equal(pod?.spec?.nodeName, 'node-b');
});

test('pods run on the nodes in turn, and those of a daemon set on each node', () => {
  const nodes = ['node-a', 'node-b', 'node-c'];
  const made = podsOf({ kind: 'Deployment', metadata, spec: { template, replicas: 6 } }, nodes);
  const used = made.map(({ spec }) => spec?.nodeName);
  assert.deepEqual(used.slice(0, 3).toSorted(), nodes);
  assert.deepEqual(used.slice(3), used.slice(0, 3));
  const daemons = podsOf({ kind: 'DaemonSet', metadata, spec: { template } }, nodes);
  assert.deepEqual(daemons.map(({ spec }) => spec?.nodeName).toSorted(), nodes);
  assert.equal(new Set(daemons.map((one) => one.metadata.name)).size, 3);
});
