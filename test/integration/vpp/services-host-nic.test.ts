/** Clients outside that ask node ports and host ports at a NIC of the host, without kube-proxy. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertBackends, assertClient, assertNone } from '#test/services/compliance/answers.ts';
import { a, b, both, serviceRecords, x } from '#test/services/compliance/records.ts';
import type { Answer, NodeName } from '#test/services/service-cluster.ts';
import { withoutNodes, withoutSocketHooks, withoutVhostNet } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealServiceCluster } from '../support/service-cluster.ts';

/** So many connections reach both of two backends, except in one of a billion runs. */
const ENOUGH = 60;

const skip = withoutNodes() || withoutVhostNet() || withoutSocketHooks();

describe('clients at a NIC of the host', { skip, timeout: 300_000 }, () => {
  let cluster: RealServiceCluster;

  before(async () => {
    cluster = await RealServiceCluster.start({ sockets: true });
    for (const pod of ['a', 'b']) await cluster.startPod(pod, 'node1', [8080]);
    await cluster.startPod('x', 'node2', [8080]);
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  async function connect(node: NodeName, port: number, count = 1): Promise<readonly Answer[]> {
    const address = cluster.addressOf({ host: node });
    const answers = both.map((protocol) =>
      cluster.connectFromManagement({ address, port, protocol }, count),
    );
    return (await Promise.all(answers)).flat();
  }

  it('with the policy Cluster backends of all nodes answer, and see the NAT loopback', async () => {
    await cluster.apply(
      serviceRecords(cluster, 'np', {
        service_type: 'NodePort',
        cluster_ip: '10.96.1.10',
        ports: [{ port: 80, target: 8080, nodePort: 30080 }],
        backends: [b, x],
      }),
    );
    for (const node of ['node1', 'node2'] as const) {
      const answers = await connect(node, 30080, ENOUGH);
      assertBackends(answers, ['b', 'x'], node);
      assertClient(answers, cluster.natLoopbackOf(node), node);
    }
  });

  it('with the policy Local backends of the node answer, and see the client', async () => {
    await cluster.apply(
      serviceRecords(cluster, 'np-local', {
        service_type: 'NodePort',
        external_traffic_policy: 'Local',
        cluster_ip: '10.96.1.11',
        ports: [{ port: 80, target: 8080, nodePort: 30081 }],
        backends: [a, b],
      }),
    );
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

  it('other ports of the host answer as before', async () => {
    await cluster.serve({ host: 'node1' }, 7070);
    assertBackends(await connect('node1', 7070, 5), ['node1']);
  });

  it('large transfers pass', async () => {
    const address = cluster.addressOf({ host: 'node1' });
    const answer = await cluster.transferFromManagement(
      { address, port: 30081, protocol: 'TCP' },
      8,
    );
    assert.equal(answer.result, 'answered');
  });

  it('while the agent is dead, and by the next one without a new program', async () => {
    const served = async () =>
      assertClient(await connect('node1', 30081, ENOUGH), cluster.managementAddress);
    await cluster.restartAgent('node1', 'SIGKILL', served);
    await served();
  });
});
