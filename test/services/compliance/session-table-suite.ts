/** A session table that is too small for its clients. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ServiceCluster, StartServiceCluster } from '../service-cluster.ts';
import { a, b, serviceRecords, x } from './records.ts';

const ports = [{ port: 80, target: 8080 }];
const ADDRESS = '10.96.4.10';
const SESSIONS = 256;

export function sessionTableSuite(start: StartServiceCluster): void {
  describe('a full session table', { timeout: 300_000 }, () => {
    let cluster: ServiceCluster;

    before(async () => {
      cluster = await start({ service: { natSessionTableSize: SESSIONS } });
      for (const pod of ['a', 'b']) await cluster.startPod(pod, 'node1', [8080]);
      await cluster.startPod('x', 'node2', [8080]);
      await cluster.apply(
        serviceRecords(cluster, 'web', { cluster_ip: ADDRESS, ports, backends: [b] }),
      );
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    const target = { address: ADDRESS, port: 80, protocol: 'TCP' } as const;

    it('does not answer new connections, and keeps those to backends of the node', async () => {
      const connections = await cluster.open(a, target, 4 * SESSIONS);
      const counts = Map.groupBy(connections.answers, ({ result }) => result);
      assert.ok((counts.get('answered')?.length ?? 0) >= SESSIONS / 2);
      assert.ok((counts.get('timeout')?.length ?? 0) >= SESSIONS);
      assert.equal(counts.has('refused'), false);
      assert.deepEqual(await connections.broken(), []);
      // a change of services is applied meanwhile
      await cluster.apply(
        serviceRecords(cluster, 'web', { cluster_ip: ADDRESS, ports, backends: [b, x] }),
      );
      await connections.close();
    });
  });
}
