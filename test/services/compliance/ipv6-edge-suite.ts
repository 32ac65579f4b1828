/** Addresses of services of an IPv6 cluster for clients outside of it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '#test/support/wait.ts';
import type { NodeName, Place, ServiceCluster, StartServiceCluster } from '../service-cluster.ts';
import { answered, assertBackends, assertClient, assertNone } from './answers.ts';
import { connectBoth } from './connect.ts';
import { a, b, both, host1, type ServiceInput, serviceRecords, x } from './records.ts';

const nodeNames: readonly NodeName[] = ['node1', 'node2'];
/** So many connections reach both of two backends, except in one of a billion runs. */
const ENOUGH = 30;
const HOST_PORT = 8000;
/** By VPP's defaults, the search for sessions takes minutes. */
const SESSION_LIMIT_MS = 180_000;

/** @param translatesSources whether what the pods send outside gets the address of their node */
export function ipv6EdgeSuite(start: StartServiceCluster, translatesSources = true): void {
  describe('IPv6 for clients outside', { timeout: 600_000 }, () => {
    let cluster: ServiceCluster;

    before(async () => {
      cluster = await start();
      const port = both.map((protocol) => ({
        container_port: 8080,
        host_port: HOST_PORT,
        protocol,
      }));
      await cluster.startPod('a', 'node1', [8080], { container: [{ name: 'main', port }] });
      await cluster.startPod('b', 'node1', [8080]);
      await cluster.startPod('x', 'node2', [8080]);
      await cluster.serve(host1, 8080);
      await cluster.serve('outside', 8080);
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    const apply = (name: string, input: ServiceInput) =>
      cluster.apply(serviceRecords(cluster, name, input));
    const connect = (from: Place, address: string, port: number, count = 1) =>
      connectBoth(cluster, from, address, port, count);
    const ip = (ipv4: string) => cluster.serviceAddress(ipv4);
    const outsideIp = () => cluster.addressOf('outside');

    it('a node port answers at the address of each VPP, with backends of both nodes', async () => {
      await apply('np', {
        service_type: 'NodePort',
        cluster_ip: ip('10.96.1.10'),
        ports: [{ port: 80, target: 8080, nodePort: 30_080 }],
        backends: [b, x],
      });
      for (const node of nodeNames) {
        const answers = await connect('outside', cluster.vppAddressOf(node), 30_080, ENOUGH);
        assertBackends(answers, ['b', 'x'], node);
        assertClient(answers, cluster.natLoopbackOf(node), node);
      }
      assertNone(await connect('outside', cluster.vppAddressOf('node1'), 30_099));
    });

    it('with the policy Local the backends of the node see the client, and others do not answer', async () => {
      await apply('np-local', {
        service_type: 'NodePort',
        external_traffic_policy: 'Local',
        cluster_ip: ip('10.96.1.12'),
        ports: [{ port: 80, target: 8080, nodePort: 30_082 }],
        backends: [a, b],
      });
      const answers = await connect('outside', cluster.vppAddressOf('node1'), 30_082, ENOUGH);
      assertBackends(answers, ['a', 'b']);
      assertClient(answers, outsideIp());
      assertNone(await connect('outside', cluster.vppAddressOf('node2'), 30_082));
      for (const from of [b, x])
        assertBackends(
          await connect(from, cluster.vppAddressOf('node1'), 30_082, ENOUGH),
          ['a', 'b'],
          'inside',
        );
    });

    it('a client with such connections still is reached by pods, and reaches them unless their sources are translated', async () => {
      for (const [pod, node] of [
        [a, 'node1'],
        [x, 'node2'],
      ] as const) {
        const asked = await connect('outside', cluster.addressOf(pod), 8080, 3);
        if (translatesSources) assertNone(asked);
        else assertClient(asked, outsideIp());
        const seen = translatesSources ? cluster.vppAddressOf(node) : cluster.addressOf(pod);
        assertClient(await connect(pod, outsideIp(), 8080, 3), seen, 'from a pod');
      }
      for (const from of [a, b, x])
        assertBackends(await connect(from, cluster.addressOf(host1), 8080, 3), ['node1']);
      assertBackends(await connect(host1, cluster.addressOf(x), 8080, 3), ['x']);
      assertClient(await connect(a, cluster.addressOf(x), 8080, 3), cluster.addressOf(a));
    });

    it('external IPs and addresses of load balancers, at each node that they are routed to', async () => {
      const addresses = ['203.0.113.10', '203.0.113.11'].map(ip);
      await apply('balanced', {
        service_type: 'LoadBalancer',
        cluster_ip: ip('10.96.1.13'),
        external_ips: [addresses[0]!],
        lb_ingress_ips: [addresses[1]!],
        ports: [{ port: 80, target: 8080 }],
        backends: [b, x],
      });
      for (const address of addresses) {
        for (const node of nodeNames) {
          await cluster.routeFromOutside(`${address}/128`, node);
          const answers = await connect('outside', address, 80, ENOUGH);
          assertBackends(answers, ['b', 'x'], `${address} at ${node}`);
          assertClient(answers, cluster.natLoopbackOf(node), `${address} at ${node}`);
        }
        assertBackends(await connect(a, address, 80, ENOUGH), ['b', 'x']);
        const [other] = await cluster.connect('outside', { address, port: 81, protocol: 'TCP' });
        assert.equal(other!.result, 'refused', 'another port');
      }
      assertNone(await connect('outside', ip('10.96.1.13'), 80), 'cluster IP');
    });

    it('an address of a load balancer with the policy Local', async () => {
      const address = ip('203.0.113.12');
      await apply('balanced-local', {
        service_type: 'LoadBalancer',
        external_traffic_policy: 'Local',
        cluster_ip: ip('10.96.1.14'),
        lb_ingress_ips: [address],
        ports: [{ port: 80, target: 8080 }],
        backends: [x],
      });
      await cluster.routeFromOutside(`${address}/128`, 'node2');
      const answers = await connect('outside', address, 80, 5);
      assertBackends(answers, ['x']);
      assertClient(answers, outsideIp());
    });

    it('backends come and go, and the last one', async () => {
      const address = ip('203.0.113.16');
      await cluster.routeFromOutside(`${address}/128`, 'node1');
      const set = (...backends: readonly Place[]) =>
        apply('changing', {
          cluster_ip: ip('10.96.1.18'),
          external_ips: [address],
          ports: [{ port: 80, target: 8080 }],
          backends,
        });
      for (const [backends, names] of [
        [[b], ['b']],
        [
          [a, b, x],
          ['a', 'b', 'x'],
        ],
        [[x], ['x']],
        [[], []],
        [[a], ['a']],
      ] as const) {
        await set(...backends);
        if (names.length > 0)
          // a client that asks from an earlier port reaches a removed backend until VPP has found its session
          await until(
            `${names.join()} answer, and no others`,
            async () => {
              const answers = answered(await connect('outside', address, 80, ENOUGH));
              return (
                [...new Set(answers.map(({ backend }) => backend))].sort().join() === names.join()
              );
            },
            SESSION_LIMIT_MS,
          );
        else {
          const [answer] = await cluster.connect('outside', { address, port: 80, protocol: 'TCP' });
          assert.equal(answer!.result, 'refused');
        }
      }
      await cluster.apply({ name: 'changing' });
      assertNone(await connect('outside', address, 80), 'deleted');
    });

    it('loadBalancerSourceRanges decide about clients outside', async () => {
      const [balanced, chosen] = [ip('203.0.113.14'), ip('203.0.113.15')];
      for (const address of [balanced, chosen])
        await cluster.routeFromOutside(`${address}/128`, 'node1');
      for (const policy of ['Cluster', 'Local'])
        for (const [ranges, isServed] of [
          [['2001:db8:9::/48'], false],
          [[`${outsideIp()}/128`], true],
          [['203.0.113.0/24'], false],
          [[], true],
        ] as const) {
          await apply('ranges', {
            service_type: 'LoadBalancer',
            external_traffic_policy: policy,
            cluster_ip: ip('10.96.1.17'),
            lb_ingress_ips: [balanced],
            external_ips: [chosen],
            loadbalancer_source_ranges: ranges,
            ports: [{ port: 80, target: 8080 }],
            backends: [b],
          });
          const answers = await connect('outside', balanced, 80, 2);
          if (isServed) assertBackends(answers, ['b'], `${policy} ${ranges.join()}`);
          else assertNone(answers, `${policy} ${ranges.join()}`);
          assertBackends(await connect('outside', chosen, 80, 2), ['b']);
        }
    });

    it('a host port keeps its clients', async () => {
      const answers = await connect('outside', cluster.vppAddressOf('node1'), HOST_PORT, 5);
      assertBackends(answers, ['a']);
      assertClient(answers, outsideIp());
    });

    it('with affinity a client stays with one backend', async () => {
      await apply('affine', {
        service_type: 'NodePort',
        session_affinity: 'ClientIP',
        cluster_ip: ip('10.96.1.19'),
        ports: [{ port: 80, target: 8080, nodePort: 30_085 }],
        backends: [a, b, x],
      });
      const { connect: ask } = cluster;
      const to = { address: cluster.vppAddressOf('node1'), port: 30_085, protocol: 'TCP' } as const;
      const answers = await ask.call(cluster, 'outside', to, ENOUGH);
      const backends = answers.map((one) => (one.result === 'answered' ? one.backend : one.result));
      assert.equal(new Set(backends).size, 1, backends.join());
    });

    it('a killed agent and its next start change nothing', async () => {
      const to = { address: cluster.vppAddressOf('node1'), port: 30_080, protocol: 'TCP' } as const;
      const open = await cluster.open('outside', to, 20);
      await cluster.restartAgent('node1', 'SIGKILL');
      assert.deepEqual(await open.broken(), []);
      await open.close();
      assertBackends(await connect('outside', to.address, to.port, ENOUGH), ['b', 'x']);
    });

    it('a node port that is deleted answers no more', async () => {
      await cluster.apply({ name: 'np' });
      assertNone(await connect('outside', cluster.vppAddressOf('node1'), 30_080));
    });
  });
}
