/** Node ports at the addresses of all nodes, for clients whose sockets the kernel translates. */
import { after, before, describe, it } from 'node:test';
import type { NodeName, ServiceCluster, StartServiceCluster } from '../service-cluster.ts';
import { assertBackends, assertClient } from './answers.ts';
import { connectBoth } from './connect.ts';
import { a, b, serviceRecords, x } from './records.ts';

const nodeNames: readonly NodeName[] = ['node1', 'node2'];

/** So many connections reach both of two backends, except in one of a billion runs. */
const ENOUGH = 60;

export function nodePortAtSocketSuite(start: StartServiceCluster): void {
  describe('node ports at sockets', { timeout: 300_000 }, () => {
    let cluster: ServiceCluster;

    before(async () => {
      cluster = await start();
      for (const pod of ['a', 'b']) await cluster.startPod(pod, 'node1', [8080]);
      await cluster.startPod('x', 'node2', [8080]);
      const input = {
        service_type: 'NodePort',
        cluster_ip: '10.96.1.10',
        ports: [{ port: 80, target: 8080, nodePort: 30080 }],
        backends: [b, x],
      } as const;
      await cluster.apply(serviceRecords(cluster, 'np', input));
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    const addresses = () =>
      nodeNames.flatMap((node) => [cluster.vppAddressOf(node), cluster.addressOf({ host: node })]);

    it('backends of both nodes see the pod, at every address of every node', async () => {
      for (const address of addresses())
        for (const from of [a, x]) {
          const answers = await connectBoth(cluster, from, address, 30080, ENOUGH);
          assertBackends(answers, ['b', 'x'], address);
          for (const [backend, pod] of [
            ['b', b],
            ['x', x],
          ] as const)
            if (pod !== from)
              assertClient(
                answers.filter((one) => one.result === 'answered' && one.backend === backend),
                cluster.addressOf(from),
              );
        }
    });

    it('hosts reach them at every address of every node', async () => {
      for (const address of addresses())
        for (const host of nodeNames)
          assertBackends(
            await connectBoth(cluster, { host }, address, 30080, ENOUGH),
            ['b', 'x'],
            address,
          );
    });
  });
}
