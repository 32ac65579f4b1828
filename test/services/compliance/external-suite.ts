/** Services at addresses for clients outside of the cluster, and traffic that leaves the cluster. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { NodeName, Place, ServiceCluster, StartServiceCluster } from '../service-cluster.ts';
import { assertBackends, assertClient, assertNone } from './answers.ts';
import { connectBoth } from './connect.ts';
import { a, b, type ServiceInput, serviceRecords, x } from './records.ts';

const nodeNames: readonly NodeName[] = ['node1', 'node2'];

/** So many connections reach both of two backends, except in one of a billion runs. */
const ENOUGH = 60;

export function externalSuite(start: StartServiceCluster): void {
  describe('external addresses', { timeout: 300_000 }, () => {
    let cluster: ServiceCluster;

    before(async () => {
      cluster = await start();
      for (const pod of ['a', 'b']) await cluster.startPod(pod, 'node1', [8080]);
      await cluster.startPod('x', 'node2', [8080]);
      await cluster.serve('outside', 8080);
      await cluster.serve({ host: 'node1' }, 8080);
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    const apply = (name: string, input: ServiceInput) =>
      cluster.apply(serviceRecords(cluster, name, input));
    const connect = (from: Place, address: string, port: number, count = 1) =>
      connectBoth(cluster, from, address, port, count);

    it('a node port answers at the address of each node, with backends of both', async () => {
      await apply('np', {
        service_type: 'NodePort',
        cluster_ip: '10.96.1.10',
        ports: [{ port: 80, target: 8080, nodePort: 30080 }],
        backends: [b, x],
      });
      for (const node of nodeNames) {
        const answers = await connect('outside', cluster.vppAddressOf(node), 30080, ENOUGH);
        assertBackends(answers, ['b', 'x'], node);
        assertClient(answers, cluster.natLoopbackOf(node), node);
      }
      for (const from of [a, x])
        for (const node of nodeNames) {
          assertBackends(await connect(from, cluster.vppAddressOf(node), 30080, ENOUGH), [
            'b',
            'x',
          ]);
          const management = cluster.addressOf({ host: node });
          assertBackends(await connect(from, management, 30080, ENOUGH), ['b', 'x']);
        }
      assertBackends(await connect(a, '10.96.1.10', 80, ENOUGH), ['b', 'x']);
    });

    it('pods reach their host, and the host a pod, after a pod was started beside a node port', async () => {
      await cluster.startPod('late', 'node1', [8080]);
      const host = cluster.addressOf({ host: 'node1' });
      for (const from of [a, x]) assertBackends(await connect(from, host, 8080, 3), ['node1']);
      const late = cluster.addressOf({ pod: 'late' });
      assertBackends(await connect({ host: 'node1' }, late, 8080, 3), ['late']);
      await cluster.endPod('late');
      for (const from of [a, x]) assertBackends(await connect(from, host, 8080, 3), ['node1']);
    });

    it('a node port with a backend in the network of a host', async () => {
      await apply('np-host', {
        service_type: 'NodePort',
        cluster_ip: '10.96.1.11',
        ports: [{ port: 80, target: 8080, nodePort: 30081 }],
        backends: [{ host: 'node1' }],
      });
      for (const node of nodeNames)
        assertBackends(
          await connect('outside', cluster.vppAddressOf(node), 30081, 5),
          ['node1'],
          node,
        );
    });

    it('externalTrafficPolicy Local: backends of the node see the client; others do not answer', async () => {
      await apply('np-local', {
        service_type: 'NodePort',
        external_traffic_policy: 'Local',
        cluster_ip: '10.96.1.12',
        ports: [{ port: 80, target: 8080, nodePort: 30082 }],
        backends: [a, b],
      });
      const answers = await connect('outside', cluster.vppAddressOf('node1'), 30082, ENOUGH);
      assertBackends(answers, ['a', 'b']);
      assertClient(answers, cluster.addressOf('outside'));
      assertNone(await connect('outside', cluster.vppAddressOf('node2'), 30082));
      assertBackends(await connect(x, '10.96.1.12', 80, ENOUGH), ['a', 'b'], 'cluster IP');
      if (!cluster.hasSockets) return;
      for (const node of nodeNames)
        assertBackends(
          await connect(x, cluster.vppAddressOf(node), 30082, ENOUGH),
          ['a', 'b'],
          node,
        );
    });

    it('external IPs and addresses of a load balancer', async () => {
      const addresses = ['203.0.113.10', '203.0.113.11'];
      await apply('balanced', {
        service_type: 'LoadBalancer',
        cluster_ip: '10.96.1.13',
        external_ips: [addresses[0]!],
        lb_ingress_ips: [addresses[1]!],
        ports: [{ port: 80, target: 8080 }],
        backends: [b, x],
      });
      for (const address of addresses) {
        for (const node of nodeNames) {
          await cluster.routeFromOutside(`${address}/32`, node);
          const answers = await connect('outside', address, 80, ENOUGH);
          assertBackends(answers, ['b', 'x'], `${address} at ${node}`);
          assertClient(answers, cluster.natLoopbackOf(node), `${address} at ${node}`);
        }
        assertBackends(await connect(a, address, 80, ENOUGH), ['b', 'x']);
      }
    });

    it('external addresses without endpoints refuse TCP clients', async () => {
      const addresses = ['203.0.113.16', '203.0.113.17'];
      const input = {
        service_type: 'LoadBalancer' as const,
        cluster_ip: '10.96.1.18',
        external_ips: [addresses[0]!],
        lb_ingress_ips: [addresses[1]!],
        ports: [{ port: 80, target: 8080 }],
      };
      for (const address of addresses) await cluster.routeFromOutside(`${address}/32`, 'node1');
      const policies = ['Cluster', 'Local'] as const;
      for (const external_traffic_policy of policies) {
        const set = (...backends: readonly Place[]) =>
          apply('empty', { ...input, external_traffic_policy, backends });
        for (const backends of [[], [b], []]) {
          await set(...backends);
          for (const address of addresses)
            for (const from of [a, 'outside'] as const) {
              const to = { address, port: 80, protocol: 'TCP' } as const;
              const [answer] = await cluster.connect(from, to);
              const expected = backends.length === 0 ? 'refused' : 'answered';
              assert.equal(answer!.result, expected, `${external_traffic_policy} ${address}`);
            }
        }
        // only on the other node: left without an answer, as with kube-proxy
        await set(x);
        for (const address of addresses) {
          const answers = await connect('outside', address, 80);
          if (external_traffic_policy === 'Local') assertNone(answers);
          else assertBackends(answers, ['x']);
        }
      }
      // another service at the same address is served meanwhile
      const other = { cluster_ip: '10.96.1.19', ports: [{ port: 81, target: 8080 }] };
      await apply('full', { ...input, ...other, backends: [b] });
      await apply('empty', { ...input, backends: [] });
      for (const address of addresses)
        for (const from of [a, 'outside'] as const)
          assertBackends(await connect(from, address, 81, 3), ['b'], address);
      await cluster.apply({ name: 'empty' }, { name: 'full' });
    });

    it('an external IP that is the address of another node takes no other traffic to it', async () => {
      const host = cluster.addressOf({ host: 'node2' });
      await cluster.serve({ host: 'node2' }, 8080);
      await apply('taken', {
        cluster_ip: '10.96.1.15',
        external_ips: [host, cluster.vppAddressOf('node2')],
        ports: [{ port: 8000, target: 8080 }],
        backends: [a],
      });
      for (const from of [a, x]) assertBackends(await connect(from, host, 8080, 3), ['node2']);
      assertBackends(await connect(x, host, 8000, 3), ['a']);
      assertBackends(await connect(a, host, 8000, 3), ['a']);
      await cluster.apply({ name: 'taken' });
      for (const from of [a, x]) assertBackends(await connect(from, host, 8080, 3), ['node2']);
    });

    it('an address with affinity goes while clients use it', async () => {
      const address = '203.0.113.13';
      const input = {
        cluster_ip: '10.96.1.16',
        session_affinity: 'ClientIP' as const,
        session_affinity_timeout: 10_800,
        ports: [{ port: 80, target: 8080 }],
        backends: [b, x],
      };
      await cluster.routeFromOutside(`${address}/32`, 'node1');
      for (let round = 0; round < 3; round++) {
        await apply('affine', { ...input, external_ips: [address] });
        for (const from of [a, x, 'outside'] as const)
          assert.ok(
            (await connect(from, address, 80, 3)).every(({ result }) => result === 'answered'),
          );
        await Promise.all([connect(a, address, 80, 20), apply('affine', input)]);
        assert.ok(
          (await connect(a, '10.96.1.16', 80)).every(({ result }) => result === 'answered'),
        );
      }
    });

    it('an address of a load balancer with externalTrafficPolicy Local', async () => {
      const address = '203.0.113.12';
      await apply('balanced-local', {
        service_type: 'LoadBalancer',
        external_traffic_policy: 'Local',
        cluster_ip: '10.96.1.14',
        lb_ingress_ips: [address],
        ports: [{ port: 80, target: 8080 }],
        backends: [x],
      });
      await cluster.routeFromOutside(`${address}/32`, 'node2');
      const answers = await connect('outside', address, 80, 5);
      assertBackends(answers, ['x']);
      assertClient(answers, cluster.addressOf('outside'));
    });

    it('the addresses of a load balancer are for the clients of loadBalancerSourceRanges', async () => {
      const [balanced, chosen] = ['203.0.113.14', '203.0.113.15'];
      const outside = `${cluster.addressOf('outside')}/32`;
      const pods = '10.1.0.0/16';
      const set = (policy: 'Cluster' | 'Local', ...ranges: readonly string[]) =>
        apply('ranges', {
          service_type: 'LoadBalancer',
          external_traffic_policy: policy,
          cluster_ip: '10.96.1.17',
          lb_ingress_ips: [balanced],
          external_ips: [chosen],
          loadbalancer_source_ranges: ranges,
          ports: [{ port: 80, target: 8080, nodePort: 30083 }],
          backends: [b],
        });
      const isServed = async (from: Place) => {
        const answers = await connect(from, balanced, 80, 2);
        if (answers.every(({ result }) => result === 'answered')) return true;
        assertNone(answers);
        return false;
      };
      for (const address of [balanced, chosen])
        await cluster.routeFromOutside(`${address}/32`, 'node1');
      for (const policy of ['Cluster', 'Local'] as const) {
        const served: boolean[][] = [];
        for (const ranges of [[outside], [pods, 'no range'], ['no range'], [outside, pods], []]) {
          await set(policy, ...ranges);
          served.push([await isServed('outside'), await isServed(a)]);
          // whatever the ranges are
          assertBackends(await connect('outside', chosen, 80, 2), ['b']);
          assertBackends(await connect('outside', cluster.vppAddressOf('node1'), 30083, 2), ['b']);
          for (const address of [chosen, '10.96.1.17'])
            assertBackends(await connect(a, address, 80, 2), ['b']);
        }
        assert.deepEqual(served, [
          [true, false],
          [false, true],
          [false, false],
          [true, true],
          [true, true],
        ]);
      }
    });

    it('the outside sees the address of the node of a pod', async () => {
      for (const [from, node] of [
        [a, 'node1'],
        [x, 'node2'],
      ] as const)
        assertClient(
          await connect(from, cluster.addressOf('outside'), 8080, 5),
          cluster.vppAddressOf(node),
        );
    });

    it('pods and hosts see each other without translation', async () => {
      for (const [from, to] of [
        [a, b],
        [a, x],
        [x, a],
      ] as const)
        assertClient(await connect(from, cluster.addressOf(to), 8080, 5), cluster.addressOf(from));
      assertClient(
        await connect('outside', cluster.addressOf(b), 8080, 5),
        cluster.addressOf('outside'),
      );
      assertClient(
        await connect(x, cluster.addressOf({ host: 'node1' }), 8080, 5),
        cluster.addressOf(x),
      );
    });

    it('a node port that is deleted answers no more', async () => {
      await cluster.apply({ name: 'np' });
      for (const answer of await connect('outside', cluster.vppAddressOf('node1'), 30080))
        assert.notEqual(answer.result, 'answered');
    });
  });
}
