/** Connections between two real nodes: each is reported once at each end, with names, verdict, reason and bytes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Flow, FlowsDocument } from '#documents/flows.ts';
import { policyModel } from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { NodeName, Place, Target } from '#test/services/service-cluster.ts';
import { withoutNodes, withoutSocketHooks, withoutVhostNet } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealServiceCluster } from '../support/service-cluster.ts';

const PORT = 8080;
const SERVICE = '10.96.0.77';
/** Connections of each case that is answered; a client that gets no answer waits for seconds. */
const ANSWERED = 25;
const SILENT = 5;

interface Case {
  readonly name: string;
  readonly from: Place;
  readonly to: () => Target;
  readonly count: number;
  readonly verdict: Flow['verdict'];
  /** Names of the ends; of an address outside: the empty text. */
  readonly client: string;
  readonly server: string;
  readonly service?: string;
  /** Nodes that have a socket of the end. */
  readonly clientAt?: NodeName;
  readonly serverAt?: NodeName;
  readonly reason?: string;
}

describe('flows of two nodes', {
  skip: withoutNodes() || withoutVhostNet() || withoutSocketHooks(),
  timeout: 900_000,
}, () => {
  let cluster: RealServiceCluster;
  const pod = (name: string): Place => ({ pod: name });
  const at = (place: Place, port = PORT): Target => ({
    address: cluster.addressOf(place),
    port,
    protocol: 'TCP',
  });

  before(async () => {
    cluster = await RealServiceCluster.start({ sockets: true });
    for (const [name, node] of [
      ['web', 'node1'],
      ['near', 'node1'],
      ['locked', 'node1'],
      ['far', 'node2'],
      ['closed', 'node2'],
    ] as const)
      await cluster.startPod(name, node, [PORT], {
        labels: { app: name },
        label: [{ key: 'app', value: name }],
      });
    await cluster.serve({ host: 'node2' }, 8085);
    await cluster.serve('outside', 8086);
    await cluster.routeFromOutside(`${cluster.addressOf(pod('far'))}/32`, 'node2');
    const isolating = (name: string, policy_type: 'INGRESS' | 'EGRESS') => ({
      resource: resources.policy,
      name: `no-${policy_type.toLowerCase()}`,
      namespace: 'default',
      value: policyModel.canonical({
        name: `no-${policy_type.toLowerCase()}`,
        namespace: 'default',
        pods: { match_label: [{ key: 'app', value: name }] },
        policy_type,
      }),
    });
    await cluster.write(isolating('closed', 'INGRESS'), isolating('locked', 'EGRESS'));
    await cluster.apply({
      name: 'shop',
      service: {
        cluster_ip: SERVICE,
        port: [{ name: 'http', protocol: 'TCP', port: 80 }],
      },
      endpoints: {
        endpoint_subsets: [
          {
            addresses: [{ ip: cluster.addressOf(pod('far')), node_name: 'node2' }],
            ports: [{ name: 'http', port: PORT, protocol: 'TCP' }],
          },
        ],
      },
    });
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  async function documentOf(node: NodeName, query = ''): Promise<FlowsDocument> {
    const path = `/contiv/v1/flows?last=10000${query}`;
    const { status, body } = await cluster.realNode(node).agent.get(path);
    assert.equal(status, 200);
    return body as FlowsDocument;
  }

  const open = { verdict: 'open', count: ANSWERED } as const;
  const cases: readonly Case[] = [
    {
      name: 'a pod of the node',
      from: pod('web'),
      to: () => at(pod('near')),
      ...open,
      client: 'default/web',
      server: 'default/near',
      clientAt: 'node1',
      serverAt: 'node1',
    },
    {
      name: 'a pod of another node',
      from: pod('web'),
      to: () => at(pod('far')),
      ...open,
      client: 'default/web',
      server: 'default/far',
      clientAt: 'node1',
      serverAt: 'node2',
    },
    {
      name: 'a service',
      from: pod('near'),
      to: () => ({ address: SERVICE, port: 80, protocol: 'TCP' }),
      ...open,
      client: 'default/near',
      server: 'default/far',
      service: 'default/shop',
      clientAt: 'node1',
      serverAt: 'node2',
    },
    {
      name: 'the host of another node',
      from: pod('web'),
      to: () => at({ host: 'node2' }, 8085),
      ...open,
      client: 'default/web',
      server: 'node2',
      clientAt: 'node1',
    },
    {
      name: 'the host to a pod',
      from: { host: 'node1' },
      to: () => at(pod('near')),
      ...open,
      client: 'node1',
      server: 'default/near',
      clientAt: 'node1',
      serverAt: 'node1',
    },
    {
      name: 'an address outside',
      from: pod('web'),
      to: () => at('outside', 8086),
      ...open,
      client: 'default/web',
      server: '',
      clientAt: 'node1',
    },
    {
      name: 'from outside',
      from: 'outside',
      to: () => at(pod('far')),
      ...open,
      client: '',
      server: 'default/far',
      serverAt: 'node2',
    },
    {
      name: 'a refusal',
      from: pod('web'),
      to: () => at(pod('far'), 9),
      verdict: 'refused',
      count: ANSWERED,
      client: 'default/web',
      server: 'default/far',
      clientAt: 'node1',
      reason: 'no process listens at TCP port 9 of default/far',
    },
    {
      name: 'denied on ingress',
      from: pod('web'),
      to: () => at(pod('closed')),
      verdict: 'denied',
      count: SILENT,
      client: 'default/web',
      server: 'default/closed',
      clientAt: 'node1',
      reason:
        'default/closed is isolated for ingress by default/no-ingress: no rule permits TCP port 8080 from default/web',
    },
    {
      name: 'denied on egress',
      from: pod('locked'),
      to: () => at(pod('far')),
      verdict: 'denied',
      count: SILENT,
      client: 'default/locked',
      server: 'default/far',
      clientAt: 'node1',
      reason:
        'default/locked is isolated for egress by default/no-egress: no rule permits TCP port 8080 of default/far',
    },
    {
      name: 'an address that no pod has',
      from: pod('near'),
      to: () => ({
        ...at(pod('near')),
        address: cluster.addressOf(pod('near')).replace(/\d+$/, '200'),
      }),
      verdict: 'no-answer',
      count: SILENT,
      client: 'default/near',
      server: '',
      clientAt: 'node1',
      reason: 'no pod has',
    },
  ];
  for (const one of cases)
    it(`${one.count} connections: ${one.name}`, async () => {
      const { from, to, count, client, server, service, verdict, clientAt, serverAt, reason } = one;
      const since = `&since=${encodeURIComponent(new Date().toISOString())}`;
      const answers = await cluster.connect(from, to(), count);
      const expected =
        verdict === 'open' ? 'answered' : verdict === 'refused' ? verdict : 'timeout';
      assert.deepEqual(new Set(answers.map(({ result }) => result)), new Set([expected]));
      const target = to();
      // it is found after the end
      const hasReason = (flow: Flow) =>
        reason === undefined || flow.side === 'server' || flow.reason.startsWith(reason);
      for (const [node, side] of [
        [clientAt, 'client'],
        [serverAt, 'server'],
      ] as const) {
        if (node === undefined) continue;
        const mine = async () =>
          (await documentOf(node, since)).flows.filter(
            (flow) =>
              flow.side === side &&
              flow.client.name === client &&
              flow.server.name === server &&
              (side === 'server' || (flow.service ?? flow.server).port === target.port),
          );
        await until(`${node} has all ends of its ${side}s`, async () => {
          const flows = await mine();
          return (
            flows.length >= count &&
            flows.every((flow) => flow.ended && flow.verdict === verdict && hasReason(flow))
          );
        });
        const flows = await mine();
        assert.equal(flows.length, count);
        // each connection once
        assert.equal(
          new Set(flows.map(({ client: { address, port } }) => `${address} ${port}`)).size,
          count,
        );
        for (const flow of flows) {
          if (side === 'client') {
            assert.equal(flow.service?.name, service);
          }
          if (verdict === 'open') {
            assert.ok(flow.serverBytes > 0, JSON.stringify(flow));
            assert.ok(flow.rttUs > 0);
          }
        }
      }
    });

  it('connections that continue are reported as open after the agent was killed, none twice', async () => {
    const connections = await cluster.open(pod('web'), at(pod('far')), 10);
    const mine = async () =>
      (await documentOf('node1')).flows.filter(
        ({ client, ended }) => client.name === 'default/web' && ended === undefined,
      );
    await until('they are seen', async () => (await mine()).length === 10);
    const ids = (await mine()).map(({ id }) => id).sort();
    await cluster.restartAgent('node1', 'SIGKILL');
    await until('they are seen again', async () => (await mine()).length >= 10);
    const again = await mine();
    assert.deepEqual(again.map(({ id }) => id).sort(), ids);
    assert.ok(again.every(({ measured, server }) => measured && server.name === 'default/far'));
    await connections.close();
    await until('they end', async () => (await mine()).length === 0);
    const ended = (await documentOf('node1')).flows.filter(({ id }) => ids.includes(id));
    assert.equal(ended.length, 10);
    for (const node of ['node1', 'node2'] as const)
      assert.equal((await documentOf(node)).state.lost, 0);
  });
});
