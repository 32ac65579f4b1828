import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { test } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { CodedError } from '#infra/errors/errors.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { KindWatch } from '#ksr/api-server/api.ts';
import { createApiServer } from '#ksr/api-server/wire-api-server.ts';
import { until } from '#test/support/wait.ts';
import { type FakeApiServer, startFakeApiServer } from '../support/fake-api-server.ts';
import { ObjectView } from '../support/object-view.ts';

const pods = { kind: 'Pod', path: '/api/v1/pods' };

const pod = (name: string, fields: object = {}) => ({
  metadata: { name, namespace: 'default' },
  ...fields,
});

const connect = ({ kubeConfig }: FakeApiServer) =>
  createApiServer({
    kubeConfig,
    clock: systemClock,
    random: seededRandom(1),
    log: silentLogger,
  });

const codeOf = ({ error }: KindWatch) => (error instanceof CodedError ? error.code : undefined);

for (const protocol of ['http', 'https'] as const)
  test(`lists and watches over ${protocol}`, async () => {
    await using fake = await startFakeApiServer(protocol);
    fake.cluster.install(pods.path);
    for (let i = 0; i < 1200; i++) fake.cluster.put(pods.path, pod(`pod-${i}`));
    const view = new ObjectView();
    const watch = (await connect(fake)).watch(pods, view);
    await until('the watch is open', () => watch.state === 'watching');
    assert.equal(view.objects.size, 1200);
    assert.equal(fake.cluster.requests.filter((request) => request.startsWith('list')).length, 3);

    fake.cluster.put(pods.path, pod('later', { note: 'ä'.repeat(100_000) }));
    fake.cluster.delete(pods.path, 'pod-7', 'default');
    await until('the changes arrive', () => !view.objects.has('default/pod-7'));
    assert.deepEqual(view.objects.get('default/later')?.['note'], 'ä'.repeat(100_000));
    watch.close();
    await until('the request is aborted', () => fake.cluster.openWatches === 0);
  });

test('the next page and the next watch use the same connection', async () => {
  await using fake = await startFakeApiServer();
  fake.cluster.install(pods.path);
  for (let i = 0; i < 2000; i++) fake.cluster.put(pods.path, pod(`pod-${i}`));
  const view = new ObjectView();
  const watch = (await connect(fake)).watch(pods, view);
  await until('the watch is open', () => watch.state === 'watching');
  assert.equal(fake.connections, 1);
  watch.close();
});

test('a token that was replaced is used after the answer 401', async () => {
  await using fake = await startFakeApiServer();
  fake.cluster.install(pods.path);
  fake.token = 'first';
  fake.writeKubeConfig('first');
  const view = new ObjectView();
  const watch = (await connect(fake)).watch(pods, view);
  await until('the watch is open', () => watch.state === 'watching');

  fake.token = 'second';
  fake.cluster.cut();
  await until('the old token is refused', () => codeOf(watch) === 'CV_KSR_API_UNAUTHORIZED');
  fake.cluster.put(pods.path, pod('a'));
  fake.writeKubeConfig('second');
  await until('the new token is accepted', () => view.objects.size === 1);
  assert.equal(watch.state, 'watching');
  watch.close();
});

test('a server that stops and starts is followed without a list', async () => {
  await using fake = await startFakeApiServer();
  fake.cluster.install(pods.path);
  const view = new ObjectView();
  const watch = (await connect(fake)).watch(pods, view);
  await until('the watch is open', () => watch.state === 'watching');
  await fake.stop();
  await until('the failure is noticed', () => codeOf(watch) === 'CV_KSR_API_UNREACHABLE');
  fake.cluster.put(pods.path, pod('a'));
  await fake.start();
  await until('the change arrives', () => view.objects.size === 1);
  assert.equal(view.calls.filter((call) => call === 'listing').length, 1);
  watch.close();
});

test('a connection that breaks within a list or within a line is an error', async () => {
  await using fake = await startFakeApiServer();
  fake.cluster.install(pods.path);
  for (let i = 0; i < 300; i++) fake.cluster.put(pods.path, pod(`pod-${i}`));
  fake.cluster.inject({ on: 'list', cutAfter: 20_000 });
  fake.cluster.inject({ on: 'watch', body: '{"type":"ADDED"' });
  const view = new ObjectView();
  const watch = (await connect(fake)).watch(pods, view);
  await until('the watch is open', () => watch.state === 'watching' && view.objects.size === 300);
  assert.deepEqual(
    view.calls.filter((call) => !call.startsWith('changed')),
    ['listing', 'listing', 'listed'],
  );
  watch.close();
});

test('a server with the certificate of another authority is refused', async () => {
  await using fake = await startFakeApiServer('https');
  await using other = await startFakeApiServer('https');
  fake.cluster.install(pods.path);
  copyFileSync(other.authority, fake.authority);
  const watch = (await connect(fake)).watch(pods, new ObjectView());
  await until('the failure is reported', () => codeOf(watch) === 'CV_KSR_API_CERTIFICATE');
  assert.deepEqual(fake.cluster.requests, []);
  watch.close();
});

test('a status is merged into that of the object', async () => {
  await using fake = await startFakeApiServer();
  const path = '/apis/nodeconfig.contiv.vpp/v1/nodeconfigs';
  fake.cluster.install(path);
  fake.cluster.put(path, { metadata: { name: 'node1' }, spec: { a: 1 }, status: { b: 2, c: 3 } });
  const server = await connect(fake);
  const { signal } = new AbortController();
  await server.patchStatus(`${path}/node1`, { b: null, d: 4 }, signal);
  const [object] = fake.cluster.objects(path);
  assert.deepEqual(object?.['status'], { c: 3, d: 4 });
  assert.deepEqual(object?.['spec'], { a: 1 });
  await assert.rejects(server.patchStatus(`${path}/node2`, {}, signal), {
    code: 'CV_KSR_API_NOT_FOUND',
  });
  fake.cluster.inject({ on: 'patch', status: 403 });
  await assert.rejects(server.patchStatus(`${path}/node1`, {}, signal), {
    code: 'CV_KSR_API_FORBIDDEN',
    message: /nodeconfigs\/node1\/status: the API server answered 403/,
  });
});

test('the objects of a large list are handed on in small parts', async () => {
  await using fake = await startFakeApiServer();
  fake.cluster.install(pods.path);
  const note = 'x'.repeat(1000);
  for (let i = 0; i < 6000; i++) fake.cluster.put(pods.path, pod(`pod-${i}`, { note }));
  const view = new ObjectView();
  const changed = view.changed.bind(view);
  let largest = 0;
  view.changed = (objects) => {
    largest = Math.max(largest, objects.length);
    changed(objects);
  };
  const watch = (await connect(fake)).watch(pods, view);
  await until('all objects arrive', () => watch.state === 'watching');
  assert.equal(view.objects.size, 6000);
  // Two reads of 64 KiB from the socket at the most, of objects with 1 kB each.
  assert.ok(largest <= 130, `${largest} objects at once`);
  watch.close();
});
