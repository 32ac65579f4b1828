/** Services of an IPv6 cluster besides cluster IPs and node ports, for clients in the cluster, which only sockets carry. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Place, ServiceCluster, StartServiceCluster } from '../service-cluster.ts';
import { assertBackends, assertClient, assertNone } from './answers.ts';
import { connectBoth } from './connect.ts';
import { openFifty } from './open-connections.ts';
import { a, b, both, host1, host2, serviceRecords, x } from './records.ts';

const e: Place = { pod: 'e' };
const ports = [{ port: 80, target: 8080 }];
/** So many connections reach both of two backends, except in one of a billion runs. */
const ENOUGH = 60;
const HOST_PORT = 8000;
const PODS = 'fd01::/48';

export function ipv6Suite(start: StartServiceCluster): void {
  describe('services that only sockets carry', { timeout: 300_000 }, () => {
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
      const annotations = { 'contivpp.io/service-translation': 'packets' };
      await cluster.startPod('e', 'node1', [8080], { annotations });
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    const connect = (from: Place, address: string, port: number, count = 1) =>
      connectBoth(cluster, from, address, port, count);
    const applyBalanced = (...ranges: readonly string[]) =>
      cluster.apply(
        serviceRecords(cluster, 'balanced', {
          service_type: 'LoadBalancer',
          cluster_ip: cluster.serviceAddress('10.96.4.10'),
          external_ips: [cluster.serviceAddress('203.0.113.10')],
          lb_ingress_ips: [cluster.serviceAddress('203.0.113.11')],
          loadbalancer_source_ranges: ranges,
          ports: [{ ...ports[0]!, nodePort: 30_090 }],
          backends: [b, x],
        }),
      );

    it('have external addresses and those of load balancers, for pods and hosts', async () => {
      await applyBalanced();
      for (const ipv4 of ['203.0.113.10', '203.0.113.11'])
        for (const from of [a, x, host1, host2])
          assertBackends(await connect(from, cluster.serviceAddress(ipv4), 80, ENOUGH), ['b', 'x']);
    });

    it('follow loadBalancerSourceRanges', async () => {
      const [chosen, balanced] = ['203.0.113.10', '203.0.113.11'].map((one) =>
        cluster.serviceAddress(one),
      );
      await applyBalanced('2001:db8:1::/48');
      assertNone(await connect(a, balanced!, 80, 2));
      assertBackends(await connect(a, chosen!, 80, ENOUGH), ['b', 'x']);
      await applyBalanced('2001:db8:1::/48', PODS);
      assertBackends(await connect(a, balanced!, 80, ENOUGH), ['b', 'x']);
    });

    it('have host ports, for the pods and the host of the same node, and at VPP for those of others, whose sources are translated', async () => {
      const ofVpp = cluster.vppAddressOf('node1');
      for (const address of [ofVpp, cluster.addressOf(host1)])
        for (const from of [a, b, host1])
          assertBackends(await connect(from, address, HOST_PORT, 3), ['a'], address);
      assertClient(await connect(x, ofVpp, HOST_PORT), cluster.vppAddressOf('node2'));
      assertNone(await connect(x, cluster.addressOf(host1), HOST_PORT));
    });

    it('refuse a pod whose packets are to be translated', async () => {
      const address = cluster.serviceAddress('10.96.4.10');
      const [answer] = await cluster.connect(e, { address, port: 80, protocol: 'TCP' });
      assert.equal(answer!.result, 'refused');
      assertNone(await connect(e, address, 80));
    });

    it('have backends whose packets are to be translated', async () => {
      const address = cluster.serviceAddress('10.96.4.11');
      await cluster.apply(
        serviceRecords(cluster, 'of-it', { cluster_ip: address, ports, backends: [e] }),
      );
      for (const from of [a, x, host1]) assertBackends(await connect(from, address, 80, 3), ['e']);
    });

    it('keep their connections while an agent is killed and starts again', async () => {
      const address = cluster.serviceAddress('10.96.4.10');
      const connections = await openFifty(cluster, a, address);
      await cluster.restartAgent('node1', 'SIGKILL');
      assert.deepEqual(await connections.broken(), []);
      await connections.close();
      assertBackends(await connect(a, address, 80, ENOUGH), ['b', 'x']);
    });
  });
}
