/** Services and policies between two nodes that encrypt for each other, with both shapes of links. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { policyModel } from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { serviceRecords } from '#test/services/compliance/records.ts';
import type { Place, Target } from '#test/services/service-cluster.ts';
import { withoutNodes, withoutSocketHooks, withoutVhostNet } from '#test/support/requirements.ts';
import { allEncrypted, encryptedPackets, wireguard } from '../support/encryption.ts';
import { RealServiceCluster } from '../support/service-cluster.ts';

const PORT = 8080;
const NODE_PORT = 30_080;
const a: Place = { pod: 'a' };
const b: Place = { pod: 'b' };
const x: Place = { pod: 'x' };
const host1: Place = { host: 'node1' };

const shapes = [
  ['TAP', 4],
  ['TAP', 6],
  ['VETH', 4],
] as const;

for (const [links, family] of shapes)
  describe(`services and policies by WireGuard, ${links}, IPv${family}`, {
    skip:
      withoutNodes() ||
      (links === 'TAP' && withoutVhostNet()) ||
      (family === 6 && withoutSocketHooks()),
    timeout: 240_000,
  }, () => {
    let cluster: RealServiceCluster;
    const clusterIp = () => cluster.serviceAddress('10.96.0.60');
    const target = (address: string, port: number): Target => ({ address, port, protocol: 'TCP' });
    const service = () => target(clusterIp(), 80);
    const nodes = () => [cluster.realNode('node1'), cluster.realNode('node2')];
    const results = async (from: Place, to: Target) =>
      (await cluster.connect(from, to, 3)).map(({ result }) => result);
    const passes = async (from: Place, to: Target) =>
      assert.deepEqual(await results(from, to), ['answered', 'answered', 'answered']);
    const isDenied = async (from: Place, to: Target) =>
      assert.deepEqual(await results(from, to), ['timeout', 'timeout', 'timeout']);

    before(async () => {
      cluster = await RealServiceCluster.start({
        family,
        links,
        // VPP translates no IPv6
        sockets: family === 6,
        contiv: wireguard,
      });
      await allEncrypted(nodes());
      for (const [pod, node] of [
        ['a', 'node1'],
        ['b', 'node1'],
        ['x', 'node2'],
      ] as const)
        await cluster.startPod(pod, node, [PORT], { label: [{ key: 'app', value: pod }] });
      await cluster.apply(
        serviceRecords(cluster, 'shop', {
          service_type: 'NodePort',
          cluster_ip: clusterIp(),
          ports: [{ port: 80, target: PORT, nodePort: NODE_PORT }],
          backends: [x],
        }),
      );
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    it('a pod and a host reach a service whose backend is on the other node, encrypted', async (t) => {
      const text = await encryptedPackets(cluster.realNode('node1'), async () => {
        await passes(a, service());
        await passes(host1, service());
        await passes(a, target(cluster.addressOf(x), PORT));
        const answer = await cluster.transfer(a, service(), 8);
        assert.equal(answer.result, 'answered');
      });
      t.diagnostic(text);
    });

    // of IPv6 nothing carries ports of nodes for clients outside
    if (family === 4)
      it('a client outside reaches it by the port of the first node, encrypted from there', async (t) => {
        const text = await encryptedPackets(cluster.realNode('node2'), () =>
          passes('outside', target(cluster.vppAddressOf('node1'), NODE_PORT)),
        );
        t.diagnostic(text);
      });

    it('a policy denies a pod of the other node, also by the service', async () => {
      const app = (value: string) => ({ match_label: [{ key: 'app', value }] });
      const write = (value: object | undefined) =>
        cluster.write({ resource: resources.policy, name: 'only-a', value });
      await write(
        policyModel.canonical({
          name: 'only-a',
          namespace: 'default',
          pods: app('x'),
          policy_type: 'INGRESS',
          ingress_rule: [{ from: [{ pods: app('a') }] }],
        }),
      );
      await passes(a, service());
      await isDenied(b, service());
      await isDenied(b, target(cluster.addressOf(x), PORT));
      await passes(x, target(cluster.addressOf(b), PORT));
      await write(undefined);
      await passes(b, service());
    });
  });
