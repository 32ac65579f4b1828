/** A pod whose sockets are left alone on a node where those of others are translated. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { podModel } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { Place, ServiceCluster, StartServiceCluster } from '../service-cluster.ts';
import { assertBackends, assertClient, assertNone } from './answers.ts';
import { connectBoth } from './connect.ts';
import { a, b, host1, host2, type ServiceInput, serviceRecords, x, y } from './records.ts';

/** So many connections reach each of three backends, except in one of a billion runs. */
const ENOUGH = 60;
const annotations = { 'contivpp.io/service-translation': 'packets' };
const e: Place = { pod: 'e' };
const ports = [{ port: 80, target: 8080 }];
/**
 * Ports of backends for cases with many connections: to NAT44, replies of one backend to one port of its client look the
 * same, whichever service the client asked.
 */
const targets = { cluster: 8081, local: 8082, directly: 8083, kept: 8084, chosen: 8085 } as const;
const served = [8080, ...Object.values(targets)];

export function exemptPodSuite(start: StartServiceCluster): void {
  describe('a pod whose packets are translated', { timeout: 300_000 }, () => {
    let cluster: ServiceCluster;

    before(async () => {
      cluster = await start();
      await cluster.startPod('e', 'node1', [8080], { annotations });
      for (const pod of ['a', 'b']) await cluster.startPod(pod, 'node1', served);
      for (const pod of ['x', 'y']) await cluster.startPod(pod, 'node2', served);
      for (const place of [host1, host2, 'outside'] as const)
        for (const port of [8080, targets.directly]) await cluster.serve(place, port);
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    const apply = (name: string, input: ServiceInput) =>
      cluster.apply(serviceRecords(cluster, name, input));
    const connect = (from: Place, address: string, port: number, count = 1) =>
      connectBoth(cluster, from, address, port, count);

    it('reaches a cluster IP with backends of both nodes, which see its address', async () => {
      const cluster_ip = '10.96.0.10';
      await apply('web', { cluster_ip, ports, backends: [b, x, y] });
      const answers = await connect(e, cluster_ip, 80, ENOUGH);
      assertBackends(answers, ['b', 'x', 'y']);
      assertClient(answers, cluster.addressOf(e));
      // others are translated at their sockets, beside it and elsewhere
      for (const from of [a, x])
        assertBackends(await connect(from, cluster_ip, 80, ENOUGH), ['b', 'x', 'y']);
    });

    it('reaches the address of a load balancer if its own address is in the source ranges', async () => {
      const balanced = '203.0.113.20';
      const set = (...ranges: readonly string[]) =>
        apply('ranges', {
          service_type: 'LoadBalancer',
          cluster_ip: '10.96.0.13',
          lb_ingress_ips: [balanced],
          loadbalancer_source_ranges: ranges,
          ports,
          backends: [b],
        });
      await set(`${cluster.addressOf(e)}/32`);
      assertBackends(await connect(e, balanced, 80, 2), ['b']);
      // a socket may be one of a pod that is not in the range
      for (const from of [a, x, host1]) assertNone(await connect(from, balanced, 80, 2));
      await set(`${cluster.addressOf(a)}/32`);
      assertNone(await connect(e, balanced, 80, 2));
      await set();
      for (const from of [e, a, x]) assertBackends(await connect(from, balanced, 80, 2), ['b']);
    });

    it('reaches itself', async () => {
      const cluster_ip = '10.96.0.12';
      await apply('self', { cluster_ip, ports, backends: [e] });
      const answers = await connect(e, cluster_ip, 80, 5);
      assertBackends(answers, ['e']);
      assertClient(answers, cluster.natLoopbackOf('node1'));
    });

    it('reaches itself at a node port whose backends see the addresses of clients', async () => {
      await apply('self-local', {
        service_type: 'NodePort',
        external_traffic_policy: 'Local',
        cluster_ip: '10.96.0.18',
        ports: [{ ...ports[0]!, nodePort: 30_084 }],
        backends: [e],
      });
      assertBackends(await connect(e, cluster.vppAddressOf('node1'), 30_084, 5), ['e']);
      const answers = await connect('outside', cluster.vppAddressOf('node1'), 30_084, 5);
      assertBackends(answers, ['e']);
    });

    it('is a backend of a service for all others', async () => {
      const cluster_ip = '10.96.0.13';
      const service = { service_type: 'NodePort', cluster_ip };
      await apply('of-it', {
        ...service,
        ports: [{ ...ports[0]!, nodePort: 30_081 }],
        backends: [e],
      });
      for (const from of [a, x, host1, host2])
        assertBackends(await connect(from, cluster_ip, 80, 5), ['e'], JSON.stringify(from));
      for (const node of ['node1', 'node2'] as const)
        assertBackends(
          await connect('outside', cluster.vppAddressOf(node), 30_081, 5),
          ['e'],
          node,
        );
    });

    it('reaches backends in the network of a host, and outside of the cluster', async () => {
      const [hosts, outside] = ['10.96.0.15', '10.96.0.16'];
      await apply('hosts', { cluster_ip: hosts, ports, backends: [host1, host2] });
      assertBackends(await connect(e, hosts, 80, ENOUGH), ['node1', 'node2']);
      await apply('outside', { cluster_ip: outside, ports, backends: ['outside'] });
      assertBackends(await connect(e, outside, 80, 5), ['outside']);
    });

    it('reaches the node ports of its node', async () => {
      for (const [policy, backends, nodePort, target, count] of [
        ['Cluster', ['b', 'x'], 30_082, targets.cluster, ENOUGH],
        ['Local', ['b'], 30_083, targets.local, 5],
      ] as const) {
        await apply(`node-port-${nodePort}`, {
          service_type: 'NodePort',
          external_traffic_policy: policy,
          cluster_ip: `10.96.1.${nodePort % 100}`,
          ports: [{ port: 80, target, nodePort }],
          backends: [b, x],
        });
        for (const address of [cluster.vppAddressOf('node1'), cluster.addressOf(host1)])
          assertBackends(
            await connect(e, address, nodePort, count),
            backends,
            `${policy} ${address}`,
          );
      }
    });

    it('reaches pods, hosts and the outside directly, and they reach it', async () => {
      for (const [other, name] of [
        [a, 'a'],
        [x, 'x'],
        [host1, 'node1'],
        [host2, 'node2'],
        ['outside', 'outside'],
      ] as const)
        assertBackends(await connect(e, cluster.addressOf(other), targets.directly, 5), [name]);
      for (const from of [a, x, host1, host2]) {
        const answers = await connect(from, cluster.addressOf(e), 8080, 5);
        assertBackends(answers, ['e'], JSON.stringify(from));
      }
    });

    it('gets an error without backends, as other pods do', async () => {
      const cluster_ip = '10.96.0.17';
      await apply('empty', { cluster_ip, ports, backends: [] });
      const [answer] = await cluster.connect(e, { address: cluster_ip, port: 80, protocol: 'TCP' });
      assert.equal(answer!.result, 'refused');
      assertNone(await connect(e, cluster_ip, 80));
    });

    it('keeps its connections while the agent is killed', async () => {
      const cluster_ip = '10.96.0.19';
      await apply('kept', {
        cluster_ip,
        ports: [{ port: 80, target: targets.kept }],
        backends: [b, x, y],
      });
      const target = { address: cluster_ip, port: 80, protocol: 'TCP' } as const;
      const open = await cluster.open(e, target, 10);
      await cluster.restartAgent('node1', 'SIGKILL');
      assert.deepEqual(await open.broken(), []);
      assertBackends(await connect(e, target.address, 80, ENOUGH), ['b', 'x', 'y']);
      await open.close();
    });

    it('is translated at its sockets without the annotation, and again with it', async () => {
      const cluster_ip = '10.96.0.20';
      await apply('chosen', {
        cluster_ip,
        ports: [{ port: 80, target: targets.chosen }],
        backends: [b, x, y],
      });
      const [own, nat] = [cluster.addressOf(e), cluster.natLoopbackOf('node1')];
      for (const [record, client] of [
        [{}, own],
        [{ annotations }, nat],
      ] as const) {
        const value = podModel.canonical({
          ...record,
          name: 'e',
          namespace: 'default',
          ip_address: own,
        });
        await cluster.write({ resource: resources.pod, name: 'e', value });
        assertClient(await connect(e, '10.96.0.12', 80, 5), client);
        const answers = await connect(e, cluster_ip, 80, ENOUGH);
        assertBackends(answers, ['b', 'x', 'y']);
        assertClient(answers, own);
      }
    });
  });
}
