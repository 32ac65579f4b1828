/**
 * The original's reflector at a kube-apiserver. CV_RECORD_KSR=1 records the objects and what it writes
 * for them; test/ksr/golden.test.ts compares our records with those.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import { withoutKubernetes, withoutOriginalKsr } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { EtcdServer } from '../support/etcd-server.ts';
import {
  applyGoldenObjects,
  comparable,
  goldenOriginal,
  recordGolden,
} from '../support/golden-objects.ts';
import { KubeApiServer } from '../support/kube-api-server.ts';
import { OriginalKsr } from '../support/original-ksr.ts';
import { listReflected } from '../support/reflected-state.ts';

const limits = { skip: withoutKubernetes() || withoutOriginalKsr(), timeout: 240_000 };

it("the original's reflector writes what was recorded", limits, async () => {
  await using resources = new AsyncDisposableStack();
  const etcd = await EtcdServer.start();
  resources.defer(() => etcd.close());
  const endpoint = `127.0.0.1:${etcd.port}`;
  const server = resources.use(await KubeApiServer.start({ etcd: endpoint }));
  applyGoldenObjects(server);
  const original = resources.use(await OriginalKsr.start(endpoint, server.kubeconfig()));
  const store = etcd.store();
  resources.defer(() => store.close());
  await until(
    'the reflector has written its statistics, which it does after all the rest',
    async () => {
      original.assertRunning();
      return (await store.get(`${REFLECTOR_PREFIX}status/gauges`)) !== undefined;
    },
    60_000,
  );
  const { entries } = await store.list(`${REFLECTOR_PREFIX}k8s/`);
  const records = new Map(entries.map(({ key, value }) => [key, value]));
  if (process.env['CV_RECORD_KSR'] === '1') {
    using client = server.client();
    recordGolden(await listReflected(client), records);
  }
  assert.deepEqual(comparable(records), goldenOriginal());
});
