/** Services at their cluster IP. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Place, ServiceCluster, StartServiceCluster } from '../service-cluster.ts';
import { assertBackends, assertClient, assertNone } from './answers.ts';
import { connectBoth } from './connect.ts';
import { a, b, host1, host2, type ServiceInput, serviceRecords, x, y } from './records.ts';

/** So many connections reach each of three backends, except in one of a billion runs. */
const ENOUGH = 60;

export function clusterIpSuite(start: StartServiceCluster): void {
  describe('cluster IPs', { timeout: 300_000 }, () => {
    let cluster: ServiceCluster;

    before(async () => {
      cluster = await start();
      for (const pod of ['a', 'b']) await cluster.startPod(pod, 'node1', [8080, 9090]);
      for (const pod of ['x', 'y']) await cluster.startPod(pod, 'node2', [8080, 9090]);
      for (const place of [host1, host2, 'outside'] as const) await cluster.serve(place, 8080);
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    const apply = (name: string, input: ServiceInput) =>
      cluster.apply(serviceRecords(cluster, name, input));
    const connect = (from: Place, address: string, port: number, count = 1) =>
      connectBoth(cluster, from, address, port, count);

    it('pods of both nodes reach every backend, which sees their addresses', async () => {
      const address = cluster.serviceAddress('10.96.0.10');
      await apply('web', {
        cluster_ip: address,
        ports: [{ port: 80, target: 8080 }],
        backends: [b, x, y],
      });
      for (const from of [a]) {
        const answers = await connect(from, address, 80, ENOUGH);
        assertBackends(answers, ['b', 'x', 'y']);
        assertClient(answers, cluster.addressOf(from));
      }
    });

    it('hosts reach backends of their own and of the other node', async () => {
      const address = cluster.serviceAddress('10.96.0.11');
      await apply('for-hosts', {
        cluster_ip: address,
        ports: [{ port: 80, target: 8080 }],
        backends: [a, x],
      });
      for (const from of [host1, host2])
        assertBackends(await connect(from, address, 80, ENOUGH), ['a', 'x']);
    });

    it('a pod reaches itself, and sees the address of its node unless its kernel connects it to itself', async () => {
      const itself = cluster.hasSockets ? cluster.addressOf(a) : cluster.natLoopbackOf('node1');
      const [one, many] = [
        cluster.serviceAddress('10.96.0.12'),
        cluster.serviceAddress('10.96.0.13'),
      ];
      await apply('self', { cluster_ip: one, ports: [{ port: 80, target: 8080 }], backends: [a] });
      await apply('self-too', {
        cluster_ip: many,
        ports: [{ port: 80, target: 8080 }],
        backends: [a, x],
      });
      const answers = await connect(a, one, 80, 5);
      assertBackends(answers, ['a']);
      assertClient(answers, itself);
      const mixed = await connect(a, many, 80, ENOUGH);
      assertBackends(mixed, ['a', 'x']);
      for (const answer of mixed) {
        assert.ok(answer.result === 'answered');
        const { backend, client } = answer;
        assert.equal(client, backend === 'a' ? itself : cluster.addressOf(a));
      }
    });

    it('each port has its own target, and other ports do not answer', async () => {
      const address = cluster.serviceAddress('10.96.0.14');
      const ports = [
        { port: 80, target: 8080 },
        { port: 90, target: 9090 },
      ];
      await apply('ports', { cluster_ip: address, ports, backends: [b] });
      for (const { port, target } of ports)
        for (const answer of await connect(a, address, port, 3))
          assert.deepEqual(answer, {
            result: 'answered',
            backend: 'b',
            backendPort: target,
            client: cluster.addressOf(a),
          });
      assertNone(await connect(a, address, 81));
    });

    it('backends in the network of a host, of the own node and of the other one', async () => {
      const address = cluster.serviceAddress('10.96.0.15');
      await apply('hosts', {
        cluster_ip: address,
        ports: [{ port: 80, target: 8080 }],
        backends: [host1, host2],
      });
      for (const from of [a, x])
        assertBackends(await connect(from, address, 80, ENOUGH), ['node1', 'node2']);
      for (const from of [host1, host2])
        assertBackends(await connect(from, address, 80, ENOUGH), ['node1', 'node2']);
    });

    it('a backend outside of the cluster, of a service without selector', async () => {
      const address = cluster.serviceAddress('10.96.0.16');
      await apply('external', {
        cluster_ip: address,
        ports: [{ port: 80, target: 8080 }],
        backends: ['outside'],
      });
      // at its socket a host is sent to the address outside, to which this host has no route of its own
      for (const from of cluster.hasSockets ? [a, x] : [a, x, host1])
        assertBackends(await connect(from, address, 80, 5), ['outside']);
    });

    it('backends outside of the cluster beside pods of both nodes', async () => {
      const address = cluster.serviceAddress('10.96.0.21');
      await apply('mixed', {
        cluster_ip: address,
        ports: [{ port: 80, target: 8080 }],
        backends: ['outside', b, y],
      });
      for (const from of [a, x])
        assertBackends(await connect(from, address, 80, ENOUGH), ['outside', 'b', 'y']);
    });

    it('a service without backends refuses TCP clients', async () => {
      const address = cluster.serviceAddress('10.96.0.22');
      await apply('refused', { cluster_ip: address, ports: [{ port: 80 }], backends: [] });
      for (const from of [a, host1]) {
        const [answer] = await cluster.connect(from, { address, port: 80, protocol: 'TCP' });
        assert.equal(answer!.result, 'refused');
      }
    });

    it('a port whose backends go refuses pods, also after a pod was added', async () => {
      const address = cluster.serviceAddress('10.96.0.23');
      const ports = [{ port: 80, target: 8080 }];
      const target = { address, port: 80, protocol: 'TCP' } as const;
      await apply('emptied', { cluster_ip: address, ports, backends: [b] });
      await cluster.startPod('late', 'node1', [8080]);
      const late = { pod: 'late' };
      assertBackends(await connect(late, address, 80), ['b']);
      await apply('emptied', { cluster_ip: address, ports, backends: [] });
      for (const from of [late, a]) {
        const [answer] = await cluster.connect(from, target);
        assert.equal(answer!.result, 'refused');
      }
      await apply('emptied', { cluster_ip: address, ports, backends: [b] });
      assertBackends(await connect(late, address, 80), ['b']);
      await cluster.endPod('late');
    });

    it('no backend answers that is not ready', async () => {
      const address = cluster.serviceAddress('10.96.0.17');
      const ports = [{ port: 80, target: 8080 }];
      await apply('empty', { cluster_ip: address, ports, backends: [] });
      assertNone(await connect(a, address, 80));
      await apply('empty', {
        cluster_ip: address,
        ports,
        backends: [{ at: b, state: 'not ready' }],
      });
      assertNone(await connect(a, address, 80));
      await apply('empty', { cluster_ip: address, ports, backends: [b] });
      assertBackends(await connect(a, address, 80), ['b']);
      await apply('empty', { cluster_ip: address, ports, backends: [] });
      assertNone(await connect(a, address, 80));
    });

    it('terminating backends serve only while there is no ready one', async () => {
      const address = cluster.serviceAddress('10.96.0.18');
      const ports = [{ port: 80, target: 8080 }];
      const terminating = { at: x, state: 'terminating' } as const;
      await apply('ending', { cluster_ip: address, ports, backends: [b, terminating] });
      assertBackends(await connect(a, address, 80, ENOUGH), ['b']);
      await apply('ending', { cluster_ip: address, ports, backends: [terminating] });
      assertBackends(await connect(a, address, 80, 5), ['x']);
    });

    it('internalTrafficPolicy Local: only backends of the node of the client', async () => {
      const address = cluster.serviceAddress('10.96.0.19');
      const input = {
        cluster_ip: address,
        internal_traffic_policy: 'Local',
        ports: [{ port: 80, target: 8080 }],
      };
      await apply('near', { ...input, backends: [a, b, x] });
      assertBackends(await connect(a, address, 80, ENOUGH), ['a', 'b']);
      assertBackends(await connect(y, address, 80, ENOUGH), ['x']);
      await apply('near', { ...input, backends: [x] });
      assertNone(await connect(a, address, 80));
      assertBackends(await connect(y, address, 80), ['x']);
    });

    it('an address answers no more after its service is deleted, and moves with a new one', async () => {
      const address = cluster.serviceAddress('10.96.0.20');
      const ports = [{ port: 80, target: 8080 }];
      await apply('old', { cluster_ip: address, ports, backends: [b] });
      assertBackends(await connect(a, address, 80), ['b']);
      await cluster.apply({ name: 'old' });
      assertNone(await connect(a, address, 80));
      await apply('new', { cluster_ip: address, ports, backends: [x] });
      assertBackends(await connect(a, address, 80, 5), ['x']);
    });
  });
}
