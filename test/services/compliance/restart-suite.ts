/** Restarts of agents while connections are open. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { NodeName, ServiceCluster, StartServiceCluster } from '../service-cluster.ts';
import { assertBackends } from './answers.ts';
import { assertBrokenBy, openFifty } from './open-connections.ts';
import { a, b, type ServiceInput, serviceRecords, x, y } from './records.ts';

const pods = { node1: ['a', 'b'], node2: ['x', 'y'] } as const;
const ports = [{ port: 80, target: 8080 }];

export function restartSuite(start: StartServiceCluster): void {
  describe('restarts of agents', { timeout: 300_000 }, () => {
    let cluster: ServiceCluster;

    before(async () => {
      cluster = await start();
      for (const node of ['node1', 'node2'] as const)
        for (const pod of pods[node]) await cluster.startPod(pod, node, [8080, 9090]);
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    const apply = (name: string, input: ServiceInput) =>
      cluster.apply(serviceRecords(cluster, name, input));

    for (const signal of ['SIGTERM', 'SIGKILL'] as const)
      it(`no connection breaks when the agents end by ${signal} and start`, async () => {
        const address = `10.96.3.${signal === 'SIGTERM' ? 15 : 16}`;
        const name = `survives-${signal.toLowerCase()}`;
        const nodePort = signal === 'SIGTERM' ? 30115 : 30116;
        await apply(name, {
          service_type: 'NodePort',
          cluster_ip: address,
          ports: [{ port: 80, target: 8080, nodePort }],
          backends: [a, b, x],
        });
        const groups = [
          await openFifty(cluster, a, address),
          await openFifty(cluster, y, address),
          await openFifty(cluster, 'outside', cluster.vppAddressOf('node1'), nodePort),
        ];
        for (const node of ['node1', 'node2'] as const satisfies readonly NodeName[])
          await cluster.restartAgent(node, signal);
        for (const one of groups) {
          assert.deepEqual(await one.broken(), []);
          await one.close();
        }
      });

    it('a change while the agents are down is applied at their start, and breaks only its own', async () => {
      const address = '10.96.3.17';
      await apply('down', { cluster_ip: address, ports, backends: [b, x, y] });
      const connections = await openFifty(cluster, a, address);
      await cluster.restartAgent('node1', 'SIGKILL', () =>
        apply('down', { cluster_ip: address, ports, backends: [b, x] }),
      );
      await assertBrokenBy(['y'], cluster, connections);
      assertBackends(await cluster.connect(a, { address, port: 80, protocol: 'TCP' }, 40), [
        'b',
        'x',
      ]);
      await connections.close();
    });
  });
}
