/**
 * The original's reflector and ours at one kube-apiserver. CV_RECORD_KSR=1 records the objects and what it writes
 * for them; test/ksr/golden.test.ts compares our records with those.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { KvStore } from '#datastore/api.ts';
import { REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import { withoutKubernetes, withoutOriginalKsr } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { EtcdServer } from '../support/etcd-server.ts';
import {
  applyGoldenObjects,
  comparable,
  goldenExtensions,
  goldenOriginal,
  recordGolden,
} from '../support/golden-objects.ts';
import { RealKsr } from '../support/ksr.ts';
import { KubeApiServer } from '../support/kube-api-server.ts';
import { OriginalKsr } from '../support/original-ksr.ts';
import { listReflected, type Records } from '../support/reflected-state.ts';

const limits = { skip: withoutKubernetes() || withoutOriginalKsr(), timeout: 240_000 };

it(
  "the original's reflector writes what was recorded, and ours the same but for the extensions",
  limits,
  async () => {
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
    const records = await recordsIn(store);
    if (process.env['CV_RECORD_KSR'] === '1') {
      using client = server.client();
      recordGolden(await listReflected(client), records);
    }
    assert.deepEqual(comparable(records), goldenOriginal());

    const ownEtcd = await EtcdServer.start();
    resources.defer(() => ownEtcd.close());
    const ksr = await RealKsr.create({
      etcd: `127.0.0.1:${ownEtcd.port}`,
      kubeconfig: server.kubeconfig(),
    });
    resources.use(ksr).run();
    const ownStore = ownEtcd.store();
    resources.defer(() => ownStore.close());
    const wanted = { ...comparable(records), ...goldenExtensions() };
    const written = async () => {
      ksr.assertRunning();
      return comparable(await recordsIn(ownStore));
    };
    const isWritten = async () => isDeepStrictEqual(await written(), wanted);
    await until('contiv-ksr has written the same', isWritten, 60_000).catch(() => undefined);
    assert.deepEqual(await written(), wanted);
  },
);

async function recordsIn(store: KvStore): Promise<Records> {
  const { entries } = await store.list(`${REFLECTOR_PREFIX}k8s/`);
  return new Map(entries.map(({ key, value }) => [key, value]));
}
