/** Host ports of pods: clients reach a port of a pod at the addresses of its node, and keep their address. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PodContainerPort } from '#kubernetes/models/pod.ts';
import type { NodeName, Place, ServiceCluster, StartServiceCluster } from '../service-cluster.ts';
import { assertBackends, assertClient, assertNone } from './answers.ts';
import { connectBoth } from './connect.ts';
import { a, b, both, host1, serviceRecords, x } from './records.ts';

/** A record of a pod with host ports to port 8080, over TCP and UDP. */
function withHostPorts(...ports: readonly Partial<PodContainerPort>[]) {
  return {
    container: [
      {
        name: 'main',
        port: ports.flatMap((port) =>
          both.map((protocol) => ({ container_port: 8080, protocol, ...port })),
        ),
      },
    ],
  };
}

export function hostPortSuite(start: StartServiceCluster): void {
  describe('host ports', { timeout: 300_000 }, () => {
    let cluster: ServiceCluster;

    const startPod = (name: string, node: NodeName, ...ports: Partial<PodContainerPort>[]) =>
      cluster.startPod(name, node, [8080], withHostPorts(...ports));
    const connect = (from: Place, address: string, port: number, count = 3) =>
      connectBoth(cluster, from, address, port, count);

    before(async () => {
      cluster = await start();
      await startPod('a', 'node1', { host_port: 8000 });
      await startPod('b', 'node1');
      await startPod('x', 'node2');
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    it('answer to clients outside, which keep their address', async () => {
      const answers = await connect('outside', cluster.vppAddressOf('node1'), 8000, 20);
      assertBackends(answers, ['a']);
      assertClient(answers, cluster.addressOf('outside'));
    });

    it('answer to pods of this node and of others, at the addresses of VPP and of the host', async () => {
      const vpp = cluster.vppAddressOf('node1');
      for (const address of [vpp, cluster.addressOf(host1)]) {
        for (const from of [b, x])
          assertBackends(await connect(from, address, 8000), ['a'], address);
        assertClient(await connect(b, address, 8000), cluster.addressOf(b), address);
      }
      assertClient(await connect(x, cluster.addressOf(host1), 8000), cluster.addressOf(x));
      // what leaves by the uplink has the address of its node
      assertClient(await connect(x, vpp, 8000), cluster.vppAddressOf('node2'));
    });

    it('answer to the pod itself', async () => {
      for (const address of [cluster.vppAddressOf('node1'), cluster.addressOf(host1)]) {
        const answers = await connect(a, address, 8000);
        assertBackends(answers, ['a'], address);
        const itself = cluster.hasSockets ? cluster.addressOf(a) : cluster.natLoopbackOf('node1');
        assertClient(answers, itself, address);
      }
    });

    it('do not answer at other nodes', async () => {
      assertNone(await connect('outside', cluster.vppAddressOf('node2'), 8000));
    });

    it('answer only at their hostIP', async () => {
      const host_ip_address = cluster.addressOf(host1);
      await startPod('c', 'node1', { host_port: 8001, host_ip_address });
      assertBackends(await connect(b, host_ip_address, 8001), ['c']);
      assertNone(await connect(b, cluster.vppAddressOf('node1'), 8001));
      await cluster.endPod('c');
    });

    it('belong to the first of two pods, and then to the other', async () => {
      const address = cluster.vppAddressOf('node1');
      await startPod('d2', 'node1', { host_port: 8002 });
      assertBackends(await connect('outside', address, 8002), ['d2']);
      await startPod('d1', 'node1', { host_port: 8002 });
      assertBackends(await connect('outside', address, 8002), ['d1']);
      await cluster.endPod('d1');
      assertBackends(await connect('outside', address, 8002), ['d2']);
      await cluster.endPod('d2');
      assertNone(await connect('outside', address, 8002));
    });

    it('give way to a node port', async () => {
      const address = cluster.vppAddressOf('node1');
      await cluster.apply(
        serviceRecords(cluster, 'taken', {
          service_type: 'NodePort',
          cluster_ip: '10.96.1.50',
          ports: [{ port: 80, target: 8080, nodePort: 8000 }],
          backends: [b],
        }),
      );
      assertBackends(await connect('outside', address, 8000), ['b']);
      await cluster.apply({ name: 'taken' });
      assertBackends(await connect('outside', address, 8000), ['a']);
    });

    it('leave other ports of the addresses alone', async () => {
      await cluster.serve(host1, 8088);
      for (const from of [a, b, x])
        assertBackends(await connect(from, cluster.addressOf(host1), 8088), ['node1']);
      const answers = await connect('outside', cluster.addressOf(a), 8080);
      assertBackends(answers, ['a']);
      assertClient(answers, cluster.addressOf('outside'));
    });

    it('keep connections while the agent restarts', async () => {
      const target = {
        address: cluster.vppAddressOf('node1'),
        port: 8000,
        protocol: 'TCP',
      } as const;
      const connections = await cluster.open('outside', target, 5);
      assertBackends(connections.answers, ['a']);
      await cluster.restartAgent('node1', 'SIGKILL');
      assert.deepEqual(await connections.broken(), []);
      await connections.close();
    });
  });
}
