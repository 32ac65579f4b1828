/**
 * Connections between two real nodes, in both families, over TCP and UDP: each is reported once at each end, with names, verdict,
 * reason and bytes, as tcpdump counts them on the interface of a pod.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import type { Flow, FlowsDocument } from '#documents/flows.ts';
import { policyModel } from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { NetctlProgram } from '#test/netctl/support/program.ts';
import { both } from '#test/services/compliance/records.ts';
import type { NodeName, Place, Protocol, Target } from '#test/services/service-cluster.ts';
import { withoutNodes, withoutSocketHooks, withoutVhostNet } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { Capture } from '../support/capture.ts';
import { RealServiceCluster } from '../support/service-cluster.ts';

const PORT = 8080;
const services = { 4: '10.96.0.77', 6: 'fd05::77' } as const;
/** Connections of each case that is answered; a client that gets no answer waits for seconds. */
const ANSWERED = 25;
const SILENT = 5;
/** The agent reads bytes of what continues once a minute. */
const MEASURED_MS = 75_000;
/** From the first packet to a line of netctl: its repetition comes after a second. */
const DENIED_MS = 2_000;

type Family = 4 | 6;
const families = [4, 6] as const;

interface Case {
  readonly name: string;
  readonly from: Place;
  readonly to: () => Target;
  readonly count: number;
  readonly verdict: Flow['verdict'];
  /** Of the client; default: by the verdict. */
  readonly answer?: 'refused';
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
  const at = (place: Place, family: Family, protocol: Protocol, port = PORT): Target => ({
    address: cluster.addressOf(place, family),
    port,
    protocol,
  });
  let capture: Capture;
  let netctl: NetctlProgram;

  before(async () => {
    cluster = await RealServiceCluster.start({ sockets: true, isDual: true });
    netctl = new NetctlProgram();
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
    for (const family of families)
      for (const name of ['far', 'closed']) {
        const address = cluster.addressOf(pod(name), family);
        await cluster.routeFromOutside(`${address}/${family === 4 ? 32 : 128}`, 'node2');
      }
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
    const ports = both.map((protocol) => ({ name: protocol.toLowerCase(), protocol }));
    await cluster.apply({
      name: 'shop',
      service: {
        cluster_ip: services[4],
        cluster_ips: [services[4], services[6]],
        port: ports.map((one) => ({ ...one, port: 80 })),
      },
      endpoints: {
        endpoint_subsets: families.map((family) => ({
          addresses: [{ ip: cluster.addressOf(pod('far'), family), node_name: 'node2' }],
          ports: ports.map((one) => ({ ...one, port: PORT })),
        })),
      },
    });
    capture = await Capture.start(cluster.sandboxOf('web').path);
  });
  after(async () => {
    capture?.remove();
    netctl?.[Symbol.dispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  async function documentOf(node: NodeName, query = ''): Promise<FlowsDocument> {
    const path = `/contiv/v1/flows?last=10000${query}`;
    const { status, body } = await cluster.realNode(node).agent.get(path);
    assert.equal(status, 200);
    return body as FlowsDocument;
  }

  const open = { verdict: 'open', count: ANSWERED } as const;
  const casesOf = (family: Family, protocol: Protocol): readonly Case[] => [
    {
      name: 'a pod of the node',
      from: pod('web'),
      to: () => at(pod('near'), family, protocol),
      ...open,
      client: 'default/web',
      server: 'default/near',
      clientAt: 'node1',
      serverAt: 'node1',
    },
    {
      name: 'a pod of another node',
      from: pod('web'),
      to: () => at(pod('far'), family, protocol),
      ...open,
      client: 'default/web',
      server: 'default/far',
      clientAt: 'node1',
      serverAt: 'node2',
    },
    {
      name: 'a service',
      from: pod('near'),
      to: () => ({ address: services[family], port: 80, protocol }),
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
      to: () => at({ host: 'node2' }, family, protocol, 8085),
      ...open,
      client: 'default/web',
      server: 'node2',
      clientAt: 'node1',
    },
    {
      name: 'the host to a pod',
      from: { host: 'node1' },
      to: () => at(pod('near'), family, protocol),
      ...open,
      client: 'node1',
      server: 'default/near',
      clientAt: 'node1',
      serverAt: 'node1',
    },
    {
      name: 'an address outside',
      from: pod('web'),
      to: () => at('outside', family, protocol, 8086),
      ...open,
      client: 'default/web',
      server: '',
      clientAt: 'node1',
    },
    {
      name: 'from outside',
      from: 'outside',
      to: () => at(pod('far'), family, protocol),
      ...open,
      client: '',
      server: 'default/far',
      serverAt: 'node2',
    },
    {
      name: 'a refusal',
      from: pod('web'),
      to: () => at(pod('far'), family, protocol, 9),
      // no program sees an error of ICMP, and kernels send some of them alone
      verdict: protocol === 'TCP' ? 'refused' : 'no-answer',
      answer: 'refused',
      count: protocol === 'TCP' ? ANSWERED : SILENT,
      client: 'default/web',
      server: 'default/far',
      clientAt: 'node1',
      ...(protocol === 'TCP' && { reason: 'no process listens at TCP port 9 of default/far' }),
    },
    {
      name: 'denied on ingress',
      from: pod('web'),
      to: () => at(pod('closed'), family, protocol),
      verdict: 'denied',
      count: SILENT,
      client: 'default/web',
      server: 'default/closed',
      clientAt: 'node1',
      reason: `default/closed is isolated for ingress by default/no-ingress: no rule permits ${protocol} port 8080 from default/web`,
    },
    {
      name: 'denied on egress',
      from: pod('locked'),
      to: () => at(pod('far'), family, protocol),
      verdict: 'denied',
      count: SILENT,
      client: 'default/locked',
      server: 'default/far',
      clientAt: 'node1',
      reason: `default/locked is isolated for egress by default/no-egress: no rule permits ${protocol} port 8080 of default/far`,
    },
    {
      name: 'an address that no pod has',
      from: pod('near'),
      to: () => ({
        ...at(pod('near'), family, protocol),
        address: cluster
          .addressOf(pod('near'), family)
          .replace(/[0-9a-f]+$/, family === 4 ? '200' : 'c8'),
      }),
      verdict: 'no-answer',
      count: SILENT,
      client: 'default/near',
      server: '',
      clientAt: 'node1',
      reason: 'no pod has',
    },
  ];
  /** Of TCP: as many records as connections. Of UDP: one record of all. */
  const check = async (protocol: Protocol, one: Case): Promise<void> => {
    const { from, to, count, client, server, service, verdict, clientAt, serverAt, reason } = one;
    const since = `&since=${encodeURIComponent(new Date().toISOString())}`;
    const target = to();
    const answers = await cluster.connect(from, target, count);
    const expected = one.answer ?? (verdict === 'open' ? 'answered' : 'timeout');
    assert.deepEqual(new Set(answers.map(({ result }) => result)), new Set([expected]));
    const records = protocol === 'TCP' ? count : 1;
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
            flow.protocol === protocol &&
            flow.client.name === client &&
            flow.server.name === server &&
            flow.server.address.includes(':') === target.address.includes(':') &&
            (side === 'server' || (flow.service ?? flow.server).port === target.port),
        );
      const isWhole = (flow: Flow) =>
        (protocol === 'UDP' || flow.ended !== undefined) &&
        flow.verdict === verdict &&
        hasReason(flow);
      let last: readonly Flow[] = [];
      await until(`${node} has all ends of its ${side}s`, async () => {
        last = await mine();
        return last.length >= records && last.every(isWhole);
      }).catch((thrown: unknown) => {
        throw new Error(JSON.stringify(last), { cause: thrown });
      });
      const flows = await mine();
      assert.equal(flows.length, records);
      // each connection once
      assert.equal(
        new Set(flows.map(({ client: { address, port } }) => `${address} ${port}`)).size,
        records,
      );
      for (const flow of flows) {
        if (side === 'client') assert.equal(flow.service?.name, service);
        if (verdict === 'open' && protocol === 'TCP') {
          assert.ok(flow.serverBytes > 0, JSON.stringify(flow));
          assert.ok(flow.rttUs > 0);
        }
      }
    }
  };

  for (const family of families)
    for (const protocol of both)
      for (const one of casesOf(family, protocol))
        it(`IPv${family}, ${one.count} connections of ${protocol}: ${one.name}`, () =>
          check(protocol, one));

  it('are those that tcpdump counts on the interface of a pod', async () => {
    const ofPod = async () =>
      (await documentOf('node1')).flows.filter(
        ({ side, client }) => side === 'client' && client.name === 'default/web',
      );
    // conversations of UDP have their bytes at the next measurement
    await until(
      'all is measured',
      async () => (await ofPod()).every(({ ended, measured }) => (ended ?? measured) !== undefined),
      MEASURED_MS,
    );
    const flows = await ofPod();
    const packets = await capture.packets();
    const sockets = new Set(
      packets.filter(({ isSyn }) => isSyn).map(({ from, to }) => `${from} ${to}`),
    );
    assert.equal(flows.filter(({ protocol }) => protocol === 'TCP').length, sockets.size);
    const ofUdp = flows.filter(({ protocol }) => protocol === 'UDP');
    assert.ok(ofUdp.length >= 12, `${ofUdp.length} conversations`);
    for (const { client, server, datagrams, clientBytes, serverBytes } of ofUdp) {
      const there = packets.filter(
        (one) =>
          one.isUdp &&
          one.from.startsWith(`${client.address}.`) &&
          one.to === `${server.address}.${server.port}`,
      );
      const back = packets.filter(
        (one) =>
          one.isUdp &&
          one.to.startsWith(`${client.address}.`) &&
          one.from === `${server.address}.${server.port}`,
      );
      const bytesOf = (some: typeof packets) => some.reduce((sum, { length }) => sum + length, 0);
      assert.deepEqual(
        [datagrams?.client, datagrams?.server, clientBytes, serverBytes, datagrams?.sockets],
        [
          there.length,
          back.length,
          bytesOf(there),
          bytesOf(back),
          new Set(there.map(({ from }) => from)).size,
        ],
        `${server.address} ${server.port}`,
      );
    }
  });

  for (const family of families)
    it(`IPv${family}: segments that were lost are counted by the end that sends them again`, async () => {
      const table = family === 4 ? 'iptables' : 'ip6tables';
      const rule = ['INPUT', '-p', 'tcp', '-m', 'length', '--length', '200:65535'];
      const every = [
        '-m',
        'statistic',
        '--mode',
        'nth',
        '--every',
        '50',
        '--packet',
        '0',
        '-j',
        'DROP',
      ];
      const sandbox = cluster.sandboxOf('far');
      const since = `&since=${encodeURIComponent(new Date().toISOString())}`;
      await sandbox.run(table, '-A', ...rule, ...every);
      try {
        const { result } = await cluster.transfer(pod('web'), at(pod('far'), family, 'TCP'), 4);
        assert.equal(result, 'answered');
      } finally {
        await sandbox.run(table, '-D', ...rule, ...every);
      }
      let flow: Flow | undefined;
      await until('it has ended', async () => {
        const all = (await documentOf('node1', since)).flows;
        flow = all.find(
          ({ ended, client, protocol, clientBytes }) =>
            ended && client.name === 'default/web' && protocol === 'TCP' && clientBytes > 1_000_000,
        );
        return flow !== undefined;
      });
      assert.ok(flow!.retransmissions > 0, JSON.stringify(flow));
    });

  for (const protocol of both)
    it(`a denial of ${protocol} is in netctl flows --follow within 2 s`, async (t) => {
      const { agent } = cluster.realNode('node1');
      const follow = netctl.follow(
        ...['flows', '--follow', '--denied', '--server', `unix:${agent.restSocket}`],
      );
      try {
        const lines = createInterface(follow.stdout)[Symbol.asyncIterator]();
        const denied = async (port: number, by: Protocol): Promise<number> => {
          const begun = Date.now();
          const asked = cluster.connect(pod('web'), at(pod('closed'), 4, by, port), 1);
          let line = '';
          while (!line.includes(' denied ') || !line.includes(`:${port}`))
            line = String((await lines.next()).value);
          const took = Date.now() - begun;
          await asked;
          return took;
        };
        // it follows, from some time after its start on
        await denied(8_091, 'TCP');
        const took = await denied(8_090, protocol);
        t.diagnostic(`${took} ms`);
        assert.ok(took < DENIED_MS, `${took} ms`);
      } finally {
        follow.kill('SIGTERM');
        await once(follow, 'close');
      }
    });

  for (const family of families)
    for (const protocol of both)
      it(`IPv${family}, ${protocol}: what VPP denies to a client outside has one record, with the policy`, async (t) => {
        const target = at(pod('closed'), family, protocol);
        const mine = async () =>
          (await documentOf('node2')).flows.filter(
            ({ seenBy, protocol: its, client, server }) =>
              seenBy === 'vpp' &&
              its === protocol &&
              client.kind === 'outside' &&
              server.address === target.address,
          );
        const begun = Date.now();
        const asked = cluster.connect('outside', target, 1);
        const isExplained = ({ reason }: Flow) =>
          reason.startsWith(
            `default/closed is isolated for ingress by default/no-ingress: no rule permits ${protocol} port 8080 from `,
          );
        await until('it is recorded', async () => (await mine()).some(isExplained));
        t.diagnostic(`${Date.now() - begun} ms`);
        assert.equal((await asked)[0]?.result, 'timeout');
        const [flow, ...others] = await mine();
        assert.deepEqual(others, []);
        assert.deepEqual(
          [flow?.verdict, flow?.side, flow?.client.kind, flow?.server.name],
          ['denied', 'server', 'outside', 'default/closed'],
        );
        const { vppDenials } = (await documentOf('node2')).state;
        assert.ok(vppDenials && vppDenials.sampled > 0, JSON.stringify(vppDenials));
      });

  it('connections that continue are reported as open after the agent was killed, none twice', async () => {
    const connections = await cluster.open(pod('web'), at(pod('far'), 4, 'TCP'), 10);
    const mine = async () =>
      (await documentOf('node1')).flows.filter(
        ({ protocol, client, ended }) =>
          protocol === 'TCP' && client.name === 'default/web' && ended === undefined,
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
