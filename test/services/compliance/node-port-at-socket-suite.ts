/** Node ports at the addresses of all nodes, for clients whose sockets the kernel translates. */
import { after, before, describe, it } from 'node:test';
import type { NodeName, Place, ServiceCluster, StartServiceCluster } from '../service-cluster.ts';
import { assertBackends, assertClient, assertNone } from './answers.ts';
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
        cluster_ip: cluster.serviceAddress('10.96.1.10'),
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

    it('with externalTrafficPolicy Local another node has its own backends, and these see the client', async () => {
      const set = (...backends: readonly Place[]) =>
        cluster.apply(
          serviceRecords(cluster, 'np-local', {
            service_type: 'NodePort',
            external_traffic_policy: 'Local',
            cluster_ip: cluster.serviceAddress('10.96.1.11'),
            ports: [{ port: 80, target: 8080, nodePort: 30081 }],
            backends,
          }),
        );
      const others = [
        { asked: 'node1', from: x, own: ['a', 'b'] },
        { asked: 'node2', from: a, own: ['x'] },
      ] as const;
      await set(a, b, x);
      for (const { asked, from, own } of others)
        for (const address of [cluster.vppAddressOf(asked), cluster.addressOf({ host: asked })]) {
          const answers = await connectBoth(cluster, from, address, 30081, ENOUGH);
          assertBackends(answers, own, address);
          assertClient(answers, cluster.addressOf(from));
          const host = { host: cluster.nodeOf(from)! };
          assertBackends(await connectBoth(cluster, host, address, 30081, ENOUGH), own, address);
          // the clients of this suite give a socket of datagrams its port before they connect it: it keeps its address
          const streams = { address, port: 30081, protocol: 'TCP' } as const;
          assertClient(await cluster.connect(host, streams, 3), cluster.addressOf(host));
        }
      await set(x);
      const left = cluster.addressOf({ host: 'node1' });
      assertNone(await connectBoth(cluster, { host: 'node2' }, left, 30081), 'no backend there');
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
