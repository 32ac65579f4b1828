/** Clients outside that ask node ports and host ports at a NIC of the host, without kube-proxy. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { block, pod } from '#test/plugins/policy/policy-objects.ts';
import { only, writePolicy } from '#test/policies/compliance/policy-suite.ts';
import { assertBackends, assertClient, assertNone } from '#test/services/compliance/answers.ts';
import {
  a,
  b,
  both,
  type ServiceInput,
  serviceRecords,
  x,
} from '#test/services/compliance/records.ts';
import type { Answer, NodeName } from '#test/services/service-cluster.ts';
import { withoutNodes, withoutSocketHooks, withoutVhostNet } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealServiceCluster, type RealServiceClusterOptions } from './service-cluster.ts';

/** So many connections reach both of two backends, except in one of a billion runs. */
const ENOUGH = 60;

const nodeNames: readonly NodeName[] = ['node1', 'node2'];

/** Cases that not every cluster has to show; default: all. */
export interface HostNicCases {
  readonly restart?: boolean;
}

export function hostNicSuite(
  name: string,
  options: RealServiceClusterOptions,
  { restart = true }: HostNicCases = {},
): void {
  const skip = withoutNodes() || withoutVhostNet() || withoutSocketHooks();

  describe(`clients at a NIC of the host, ${name}`, { skip, timeout: 300_000 }, () => {
    let cluster: RealServiceCluster;

    before(async () => {
      cluster = await RealServiceCluster.start({ ...options, sockets: true });
      const start = (app: string, node: NodeName) =>
        cluster.startPod(
          app,
          node,
          [8080],
          pod({ name: app, namespace: 'default', labels: { app } }),
        );
      for (const app of ['a', 'b']) await start(app, 'node1');
      await start('x', 'node2');
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    const apply = (service: string, input: ServiceInput) =>
      cluster.apply(serviceRecords(cluster, service, input));

    async function connect(node: NodeName, port: number, count = 1): Promise<readonly Answer[]> {
      const address = cluster.addressOf({ host: node });
      const answers = both.map((protocol) =>
        cluster.connectFromManagement({ address, port, protocol }, count),
      );
      return (await Promise.all(answers)).flat();
    }

    it('with the policy Cluster backends see the NAT loopback', async () => {
      await apply('np', {
        service_type: 'NodePort',
        cluster_ip: '10.96.1.10',
        ports: [{ port: 80, target: 8080, nodePort: 30080 }],
        backends: [a, b],
      });
      const answers = await connect('node1', 30080, ENOUGH);
      assertBackends(answers, ['a', 'b']);
      assertClient(answers, cluster.natLoopbackOf('node1'));
    });

    it('with the policy Cluster backends of all nodes answer', async () => {
      await apply('np-all', {
        service_type: 'NodePort',
        cluster_ip: '10.96.1.16',
        ports: [{ port: 80, target: 8080, nodePort: 30086 }],
        backends: [b, x],
      });
      for (const node of nodeNames) {
        const answers = await connect(node, 30086, ENOUGH);
        assertBackends(answers, ['b', 'x'], node);
        assertClient(answers, cluster.natLoopbackOf(node), node);
      }
    });

    it('with the policy Local backends of the node answer, and see the client', async () => {
      await apply('np-local', {
        service_type: 'NodePort',
        external_traffic_policy: 'Local',
        cluster_ip: '10.96.1.11',
        ports: [{ port: 80, target: 8080, nodePort: 30081 }],
        backends: [a, b],
      });
      const answers = await connect('node1', 30081, ENOUGH);
      assertBackends(answers, ['a', 'b']);
      assertClient(answers, cluster.managementAddress);
      assertNone(await connect('node2', 30081), 'no backend there');
    });

    it('a host port answers, and its pod sees the client', async () => {
      const record = {
        container: [
          { name: 'c', port: [{ host_port: 9090, container_port: 8080, protocol: 'TCP' }] },
        ],
      } as const;
      await cluster.startPod('p', 'node1', [8080], record);
      const address = cluster.addressOf({ host: 'node1' });
      const target = { address, port: 9090, protocol: 'TCP' } as const;
      await until('the host port answers', async () => {
        const [answer] = await cluster.connectFromManagement(target);
        return answer?.result === 'answered';
      });
      const answers = await cluster.connectFromManagement(target, 10);
      assertBackends(answers, ['p']);
      assertClient(answers, cluster.managementAddress);
    });

    it('loadBalancerSourceRanges do not concern node ports', async () => {
      const balanced = { Cluster: '203.0.113.30', Local: '203.0.113.31' };
      for (const policy of ['Cluster', 'Local'] as const) {
        await cluster.routeFromOutside(`${balanced[policy]}/32`, 'node1');
        await apply(`ranges-${policy}`.toLowerCase(), {
          service_type: 'LoadBalancer',
          external_traffic_policy: policy,
          cluster_ip: policy === 'Cluster' ? '10.96.1.12' : '10.96.1.13',
          lb_ingress_ips: [balanced[policy]],
          loadbalancer_source_ranges: ['198.51.100.0/24'],
          ports: [{ port: 80, target: 8080, nodePort: policy === 'Cluster' ? 30082 : 30083 }],
          backends: [a],
        });
      }
      for (const port of [30082, 30083]) assertBackends(await connect('node1', port, 3), ['a']);
      const ofBalancers = Object.values(balanced).map((address) =>
        cluster.connect('outside', { address, port: 80, protocol: 'TCP' }),
      );
      assertNone((await Promise.all(ofBalancers)).flat(), 'the ranges hold meanwhile');
    });

    const underPermitFor = async (client: string, check: () => Promise<void>) => {
      await writePolicy(cluster, 'case', {
        ...only('b'),
        policy_type: 'INGRESS',
        ingress_rule: [{ from: [block(`${client}/32`)] }],
      });
      try {
        await check();
      } finally {
        await writePolicy(cluster, 'case', undefined);
      }
    };

    it('a network policy decides by the client, with the policy Local', async () => {
      await apply('guarded-local', {
        service_type: 'NodePort',
        external_traffic_policy: 'Local',
        cluster_ip: '10.96.1.14',
        ports: [{ port: 80, target: 8080, nodePort: 30084 }],
        backends: [b],
      });
      await underPermitFor(cluster.managementAddress, async () =>
        assertBackends(await connect('node1', 30084, 3), ['b']),
      );
      await underPermitFor(cluster.addressOf('outside'), async () =>
        assertNone(await connect('node1', 30084)),
      );
    });

    it('a network policy decides by the NAT loopback at another node, with the policy Cluster', async () => {
      await apply('guarded', {
        service_type: 'NodePort',
        cluster_ip: '10.96.1.15',
        ports: [{ port: 80, target: 8080, nodePort: 30085 }],
        backends: [b],
      });
      await underPermitFor(cluster.natLoopbackOf('node2'), async () =>
        assertBackends(await connect('node2', 30085, 3), ['b']),
      );
      await underPermitFor(cluster.managementAddress, async () =>
        assertNone(await connect('node2', 30085)),
      );
    });

    it('other ports of the host answer as before', async () => {
      await cluster.serve({ host: 'node1' }, 7070);
      assertBackends(await connect('node1', 7070, 5), ['node1']);
    });

    it('a NIC of VPP answers its clients beside', async () => {
      const target = { address: cluster.vppAddressOf('node1'), protocol: 'TCP' } as const;
      const local = await cluster.connect('outside', { ...target, port: 30081 }, ENOUGH);
      assertBackends(local, ['a', 'b']);
      assertClient(local, cluster.addressOf('outside'));
      const all = await cluster.connect('outside', { ...target, port: 30080 }, 3);
      assertClient(all, cluster.natLoopbackOf('node1'));
    });

    it('large transfers pass', async () => {
      const address = cluster.addressOf({ host: 'node1' });
      const answer = await cluster.transferFromManagement(
        { address, port: 30081, protocol: 'TCP' },
        8,
      );
      assert.equal(answer.result, 'answered');
    });

    it('while the agent is dead, and by the next one without a new program', {
      skip: !restart,
    }, async () => {
      const served = async () =>
        assertClient(await connect('node1', 30081, ENOUGH), cluster.managementAddress);
      await cluster.restartAgent('node1', 'SIGKILL', served);
      await served();
    });
  });
}
