import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
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
