/** Which connections survive a change of endpoints. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ServiceCluster, StartServiceCluster } from '../service-cluster.ts';
import { assertBackends } from './answers.ts';
import { assertBrokenBy, openFifty } from './open-connections.ts';
import { a, b, c, type ServiceInput, serviceRecords, x, y } from './records.ts';

const pods = { node1: ['a', 'b', 'c'], node2: ['x', 'y'] } as const;
const ports = [{ port: 80, target: 8080 }];

export function changeSuite(start: StartServiceCluster): void {
  describe('changes', { timeout: 300_000 }, () => {
    let cluster: ServiceCluster;

    before(async () => {
      cluster = await start();
      for (const node of ['node1', 'node2'] as const)
        for (const pod of pods[node]) await cluster.startPod(pod, node, [8080, 9090]);
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    const apply = (name: string, input: ServiceInput) =>
      cluster.apply(serviceRecords(cluster, name, input));

    it('a backend is removed while 50 connections are open: only its own break', async () => {
      const address = cluster.serviceAddress('10.96.3.10');
      await apply('shrinks', { cluster_ip: address, ports, backends: [b, x, y] });
      const connections = await openFifty(cluster, a, address);
      assertBackends(connections.answers, ['b', 'x', 'y']);
      await apply('shrinks', { cluster_ip: address, ports, backends: [b, x] });
      await assertBrokenBy(['y'], cluster, connections);
      await apply('shrinks', { cluster_ip: address, ports, backends: [b] });
      await assertBrokenBy(['x', 'y'], cluster, connections);
      assertBackends(await cluster.connect(a, { address, port: 80, protocol: 'TCP' }, 20), ['b']);
      await connections.close();
    });

    it('backends are added one by one: nothing breaks, and each gets connections', async () => {
      const address = cluster.serviceAddress('10.96.3.11');
      await apply('grows', { cluster_ip: address, ports, backends: [b] });
      const connections = await openFifty(cluster, a, address);
      for (const [backends, names] of [
        [
          [b, x],
          ['b', 'x'],
        ],
        [
          [b, x, y],
          ['b', 'x', 'y'],
        ],
        [
          [b, c, x, y],
          ['b', 'c', 'x', 'y'],
        ],
      ] as const) {
        await apply('grows', { cluster_ip: address, ports, backends });
        assert.deepEqual(await connections.broken(), []);
        const target = { address, port: 80, protocol: 'TCP' } as const;
        assertBackends(await cluster.connect(a, target, 100), names);
      }
      await connections.close();
    });

    it('changes of other services do not break connections', async () => {
      const [address, other] = [
        cluster.serviceAddress('10.96.3.12'),
        cluster.serviceAddress('10.96.3.13'),
      ];
      await apply('stays', { cluster_ip: address, ports, backends: [b, x] });
      await apply('changes', { cluster_ip: other, ports, backends: [c, y] });
      const connections = await openFifty(cluster, a, address);
      await apply('changes', { cluster_ip: other, ports, backends: [y] });
      await apply('changes', {
        cluster_ip: other,
        ports: [{ port: 80, target: 9090 }],
        backends: [b, x],
      });
      await cluster.apply({ name: 'changes' });
      assert.deepEqual(await connections.broken(), []);
      await connections.close();
    });

    it('another pod of the node that starts and ends does not break connections', async () => {
      const address = cluster.serviceAddress('10.96.3.14');
      await apply('beside', { cluster_ip: address, ports, backends: [b, x] });
      const connections = await openFifty(cluster, a, address);
      await cluster.startPod('late', 'node1', [8080]);
      await apply('beside', { cluster_ip: address, ports, backends: [b, x, { pod: 'late' }] });
      assert.deepEqual(await connections.broken(), []);
      await apply('beside', { cluster_ip: address, ports, backends: [b, x] });
      await cluster.endPod('late');
      assert.deepEqual(await connections.broken(), []);
      await connections.close();
    });
  });
}
