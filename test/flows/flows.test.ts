/** Records, routes and metrics of flows, with a simulated kernel. */
import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import type { Flow, FlowsDocument } from '#documents/flows.ts';
import { flowsDefaults } from '#flows/config.ts';
import type { FindReason } from '#flows/flow-reason.ts';
import { Peers, type PeersDeps } from '#flows/peers.ts';
import { wireFlows } from '#flows/wire-flows.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { answer } from '#infra/http/route.ts';
import { silentLogger } from '#infra/log/log.ts';
import { podModel } from '#kubernetes/models/pod.ts';
import { serviceModel } from '#kubernetes/models/service.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { HealingResync, KubeStateChange } from '#plugins/controller/api/events.ts';
import type { Node } from '#plugins/nodesync/api.ts';
import { SimFlowSource } from '#simulator/linux/flow-source.ts';
import { ask } from '../plugins/policy/asked-route.ts';
import { begun, datagrams, ended, goesOn, opened, unanswered } from './connection-events.ts';

const DOCUMENT = 'GET /contiv/v1/flows';

function pod(name: string, address: string, labels: Readonly<Record<string, string>> = {}) {
  return podModel.canonical({
    name,
    namespace: 'shop',
    ip_address: address,
    host_ip_address: '192.0.2.1',
    labels,
  });
}

const service = serviceModel.canonical({
  name: 'web',
  namespace: 'shop',
  cluster_ip: '10.96.0.10',
  port: [{ name: '', protocol: 'TCP', port: 80, node_port: 30_080 }],
});

function node(name: string, id: number): Node {
  return {
    id,
    name,
    vppAddresses: [`192.168.16.${id}/24`],
    managementAddresses: [`192.0.2.${id}`],
    podCidr: '',
  };
}

interface Given {
  readonly shortens?: boolean;
  readonly records?: number;
  readonly allocations?: PeersDeps['ipam']['allocations'];
  readonly findReason?: FindReason;
}

const isDenied: FindReason = async ({ server }) =>
  server.port === 5_432 ? { verdict: 'denied', reason: 'a policy' } : undefined;

function started({
  shortens = false,
  records = 1_000,
  allocations = () => new Map(),
  findReason = isDenied,
}: Given = {}) {
  const pods = new Map<string, Value>([
    ['pod/client/shop', pod('client-abc-1', '10.1.1.2', { 'pod-template-hash': 'abc' })],
    ['pod/server/shop', pod('server', '10.1.2.3')],
    ['pod/host/shop', pod('host', '192.0.2.1')],
  ]);
  const kube = new Map([
    ['pod', pods],
    ['service', new Map<string, Value>([['service/web/shop', service]])],
  ]);
  const deps: PeersDeps = {
    label: 'node1',
    kubeState: () => kube,
    nodes: {
      allNodes: () => new Map([node('node1', 1), node('node2', 2)].map((n) => [n.name, n])),
    },
    ipam: { allocations },
    hostLinkOwner: () => (address) => (address === '172.30.2.2' ? 2 : undefined),
    shortenOutsideAddresses: shortens,
  };
  const peers = new Peers(deps);
  peers.observe(HealingResync.event({ type: 'after-error', error: 'a test' }));
  const source = new SimFlowSource();
  const clock = new ManualClock();
  const registry = new Registry();
  const { components, routes, fault } = wireFlows({
    label: 'node1',
    config: { ...flowsDefaults, flowRecords: records, shortenOutsideAddresses: shortens },
    source,
    isSimulated: false,
    peers,
    findReason,
    registry,
    clock,
    log: silentLogger,
  });
  void components[0]?.afterInit?.();
  return {
    peers,
    source,
    clock,
    registry,
    routes,
    fault,
    flows: async (query: Record<string, string[]> = {}): Promise<readonly Flow[]> => {
      await clock.advance(300);
      const { body } = await ask(routes, DOCUMENT, { query });
      return (body as FlowsDocument).flows;
    },
  };
}

describe('flows', () => {
  it('have the names of their ends, and the bytes of both', async () => {
    const { source, flows } = started();
    source.push(opened('1'));
    const [open] = await flows();
    assert.equal(open?.verdict, 'open');
    assert.equal(open?.ended, undefined);
    assert.deepEqual(open?.client, {
      address: '10.1.1.2',
      port: 40_000,
      kind: 'pod',
      name: 'shop/client-abc-1',
      workload: 'shop/client',
    });
    assert.equal(open?.server.name, 'shop/server');
    source.push(ended('1'));
    const [closed, ...others] = await flows();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [closed?.verdict, closed?.ended, closed?.clientBytes, closed?.serverBytes],
      ['open', '2026-01-31T12:00:02Z', 100, 2_000],
    );
    assert.deepEqual([closed?.rttUs, closed?.retransmissions], [250, 1]);
  });

  it('are those of a server, too', async () => {
    const { source, flows } = started();
    const given = {
      side: 'server',
      local: { address: '10.1.2.3', port: 80 },
      remote: { address: '198.51.100.7', port: 555 },
    } as const;
    source.push(opened('1', given), ended('1', { ...given, sent: 7, received: 9 }));
    const [flow] = await flows();
    assert.deepEqual(flow?.client, {
      address: '198.51.100.7',
      port: 555,
      kind: 'outside',
      name: '',
      workload: '',
    });
    assert.equal(flow?.server.name, 'shop/server');
    assert.deepEqual([flow?.clientBytes, flow?.serverBytes], [9, 7]);
  });

  it('name nodes, and the service that was asked', async () => {
    const { source, flows } = started();
    source.push(
      opened('1', { isOfHost: true, local: { address: '172.30.0.2', port: 1 } }),
      opened('2', { remote: { address: '192.168.16.2', port: 22 } }),
      opened('3', { service: { address: '10.96.0.10', port: 80 } }),
      opened('4', { service: { address: '192.0.2.2', port: 30_080 } }),
      opened('5', { service: { address: '10.96.0.99', port: 80 } }),
      opened('6', { remote: { address: '10.96.0.10', port: 80 } }),
      opened('7', { remote: { address: '192.0.2.1', port: 80 } }),
      opened('8', { remote: { address: '172.30.2.2', port: 80 } }),
    );
    const found = await flows();
    const [host, peer, asked, nodePort, unknown, translated, hostPod, link] = found;
    assert.deepEqual([host?.client.kind, host?.client.name], ['node', 'node1']);
    assert.deepEqual([peer?.server.kind, peer?.server.name], ['node', 'node2']);
    assert.equal(asked?.service?.name, 'shop/web');
    assert.equal(asked?.server.name, 'shop/server');
    assert.equal(nodePort?.service?.name, 'shop/web');
    assert.equal(unknown?.service?.name, '');
    assert.deepEqual([translated?.server.kind, translated?.server.name], ['service', 'shop/web']);
    assert.deepEqual([hostPod?.server.kind, hostPod?.server.name], ['node', 'node1']);
    assert.deepEqual([link?.server.kind, link?.server.name], ['node', 'node2']);
  });

  it('follow the changes of Kubernetes', async () => {
    const { peers, source, flows } = started();
    source.push(opened('1'));
    await flows();
    const change = (previous: object | undefined, current: object | undefined) =>
      peers.observe(KubeStateChange.event({ resource: 'pod', key: 'k', previous, current }));
    const before = pod('server', '10.1.2.3');
    change(undefined, pod('next', '10.1.2.3'));
    change(before, undefined);
    source.push(opened('2'), ended('1'));
    const [second, first] = await flows();
    assert.equal(second?.server.name, 'shop/next');
    // as when it began
    assert.equal(first?.server.name, 'shop/server');
  });

  it('have verdicts', async () => {
    const { source, flows } = started();
    source.push(ended('1', { outcome: 'refused' }));
    source.push(ended('2', { outcome: 'unanswered' }));
    source.push(unanswered('3'));
    source.push(unanswered('4'), opened('4'));
    source.push(unanswered('5'), ended('5', { outcome: 'unanswered' }));
    const found = await flows();
    assert.deepEqual(
      found.map(({ verdict, ended: end }) => [verdict, end !== undefined]),
      [
        ['refused', true],
        ['no-answer', true],
        ['no-answer', false],
        ['open', false],
        ['no-answer', true],
      ],
    );
  });

  it('are denied, with the reason, until they are open', async () => {
    const { source, flows } = started();
    const remote = { address: '10.1.2.3', port: 5_432 };
    source.push(unanswered('1', { remote }), unanswered('2', { remote }), unanswered('3'));
    await flows();
    source.push(ended('1', { remote, outcome: 'unanswered' }), opened('2', { remote }));
    const found = await flows();
    assert.deepEqual(
      found.map(({ id, verdict, reason }) => [id, verdict, reason]),
      [
        ['3', 'no-answer', ''],
        ['1', 'denied', 'a policy'],
        ['2', 'open', ''],
      ],
    );
  });

  it('name the pod that has an address now, although the record of another one still contains it', async () => {
    let asked = 0;
    const { source, flows } = started({
      allocations() {
        asked++;
        const pod = { namespace: 'shop', name: 'next' };
        return new Map([
          ['10.1.1.2', { address: '10.1.1.2', pod, podUid: undefined, attachment: 'a' }],
        ]);
      },
    });
    const remote = { address: '198.51.100.7', port: 443 };
    source.push(opened('1', { remote }), opened('2', { remote }));
    assert.deepEqual(
      (await flows()).map(({ client }) => client.name),
      ['shop/next', 'shop/next'],
    );
    // the list of a node has some hundred addresses, and is made when it is asked for
    assert.equal(asked, 1);
  });

  it('have reasons that take long one after the other, with turns of the event loop in between', async () => {
    let turns = 0;
    const seen: number[] = [];
    const { source, clock, flows } = started({
      findReason: async () => {
        clock.jump(4);
        seen.push(turns);
        return undefined;
      },
    });
    const turn = clock.turn.bind(clock);
    clock.turn = () => {
      turns++;
      return turn();
    };
    source.push(...Array.from({ length: 20 }, (_, at) => unanswered(`${at}`)));
    await flows();
    while (seen.length < 20) await turn();
    assert.ok(new Set(seen).size >= 8, seen.join());
  });

  it('are selected', async () => {
    const { source, flows } = started();
    source.push(
      opened('1'),
      opened('2', { remote: { address: '192.168.16.2', port: 22 } }),
      ended('3', {
        outcome: 'refused',
        service: { address: '10.96.0.10', port: 8080 },
        time: Date.parse('2026-01-31T13:00:00Z'),
      }),
    );
    const selected = async (query: Record<string, string[]>) =>
      (await flows(query)).map(({ id }) => id).join(' ');
    assert.equal(await selected({ pod: ['shop/client'] }), '1 2 3');
    assert.equal(await selected({ pod: ['shop/server'] }), '1 3');
    assert.equal(await selected({ from: ['shop/server'] }), '');
    assert.equal(await selected({ to: ['node2'] }), '2');
    assert.equal(await selected({ to: ['10.96.0.10'] }), '3');
    assert.equal(await selected({ verdict: ['refused', 'denied'] }), '3');
    assert.equal(await selected({ port: ['8080'] }), '3');
    assert.equal(await selected({ since: ['2026-01-31T12:30:00Z'] }), '3');
    assert.equal(await selected({ last: ['2'] }), '2 3');
  });

  it('reject what is no filter', async () => {
    const { routes } = started();
    for (const query of [{ verdict: ['closed'] }, { last: ['x'] }, { since: ['yesterday'] }])
      assert.equal((await ask(routes, DOCUMENT, { query })).status, 400);
  });

  it('shorten addresses outside', async () => {
    const { source, flows } = started({ shortens: true });
    source.push(
      opened('1', { remote: { address: '198.51.100.7', port: 443 } }),
      opened('2', {
        side: 'server',
        local: { address: '10.1.2.3', port: 80 },
        remote: { address: '2001:db8:1:2:3::4', port: 5 },
      }),
    );
    const [out, into] = await flows();
    assert.deepEqual([out?.server.address, out?.server.port], ['198.51.100.0/24', 443]);
    assert.deepEqual([into?.client.address, into?.client.port], ['2001:db8:1:2::/64', undefined]);
  });

  it('are bounded, and what was lost is in the document', async () => {
    const { source, flows, routes } = started({ records: 100 });
    for (let n = 0; n < 250; n++) source.push(ended(String(n)));
    source.lose(3);
    assert.equal((await flows()).length, 100);
    const { body } = await ask(routes, DOCUMENT);
    assert.deepEqual((body as FlowsDocument).state, {
      isRecording: true,
      records: 100,
      capacity: 100,
      lost: 3,
    });
  });

  it('are streamed when they begin and change', async () => {
    const { source, flows, routes, clock } = started();
    source.push(opened('0'));
    await flows();
    const route = routes.find(({ path }) => path.endsWith('/events'))!;
    const { body } = await answer(route, { query: {}, params: {}, body: undefined });
    let text = '';
    (body as Readable).on('data', (piece: string) => {
      text += piece;
    });
    source.push(opened('1'));
    await clock.advance(300);
    source.push(ended('1'), opened('2'));
    await clock.advance(300);
    const messages = [...text.matchAll(/^event: flows\ndata: (.*)$/gm)].map(
      ([, data]) => JSON.parse(data!) as Flow[],
    );
    assert.deepEqual(
      messages.map((all) => all.map(({ id }) => id)),
      [['1'], ['1', '2']],
    );
    const id = [...text.matchAll(/^id: (.*)$/gm)][1]?.[1];
    (body as Readable).destroy();
    const again = await answer(route, { query: { after: [id!] }, params: {}, body: undefined });
    let rest = '';
    (again.body as Readable).on('data', (piece: string) => {
      rest += piece;
    });
    await clock.advance(10);
    assert.match(rest, /"id":"2"/);
    assert.doesNotMatch(rest, /"id":"0"/);
    (again.body as Readable).destroy();
  });

  it('are counted by workload', async () => {
    const { source, flows, registry } = started();
    source.push(opened('1'), ended('1'), ended('2', { outcome: 'refused' }), unanswered('3'));
    source.lose(2);
    await flows();
    const text = await registry.metrics();
    for (const line of [
      'contiv_flow_connections_total{workload="shop/client",side="client",protocol="TCP",verdict="open"} 1',
      'contiv_flow_connections_total{workload="shop/client",side="client",protocol="TCP",verdict="refused"} 1',
      'contiv_flow_connections_total{workload="shop/client",side="client",protocol="TCP",verdict="no-answer"} 1',
      'contiv_flow_bytes_total{workload="shop/client",protocol="TCP",direction="sent"} 100',
      'contiv_flow_bytes_total{workload="shop/client",protocol="TCP",direction="received"} 2000',
      'contiv_flow_retransmissions_total{workload="shop/client"} 1',
      'contiv_flow_rtt_seconds_count{workload="shop/client"} 1',
      'contiv_flow_records 3',
      'contiv_flow_events_lost_total 2',
    ])
      assert.ok(text.includes(`${line}\n`), `${line} is not in\n${text}`);
  });

  it('have a bounded number of workloads in metrics', async () => {
    const { peers, source, flows, registry } = started();
    source.push(opened('first'));
    await flows();
    for (let n = 0; n < 300; n++) {
      const address = `10.1.${3 + Math.floor(n / 200)}.${n % 200}`;
      const current = pod(`p${n}`, address);
      peers.observe(
        KubeStateChange.event({ resource: 'pod', key: `${n}`, previous: undefined, current }),
      );
      source.push(opened(String(n), { local: { address, port: 1 } }));
    }
    await flows();
    const text = await registry.metrics();
    assert.equal(text.match(/^contiv_flow_connections_total/gm)?.length, 201);
    assert.match(text, /workload="others",side="client",protocol="TCP",verdict="open"} 101\n/);
  });

  it('continue when their programs were removed', async () => {
    const { source, flows, fault, clock } = started();
    source.remove();
    await clock.advance(61_000);
    assert.deepEqual(source.lostParts(), []);
    assert.equal(fault(), undefined);
    source.push(opened('1'));
    assert.equal((await flows()).length, 1);
  });

  it('that cannot be read are reported, and read later', async () => {
    const { source, flows, fault, routes, clock } = started();
    const state = async () => ((await ask(routes, DOCUMENT)).body as FlowsDocument).state;
    await flows();
    source.fail(new Error('EPERM'));
    source.push(opened('1'));
    assert.deepEqual(await flows(), []);
    assert.equal(fault()?.code, 'CV_FLOWS_READ');
    assert.match(fault()?.message ?? '', /EPERM/);
    const since = (await state()).notReadSince;
    assert.ok(since);
    await clock.advance(5_000);
    assert.equal((await state()).notReadSince, since);
    source.fail(undefined);
    await clock.advance(1_000);
    assert.equal((await flows()).length, 1);
    assert.equal(fault(), undefined);
    assert.equal((await state()).notReadSince, undefined);
  });

  it('that cannot be recorded are counted, and hold up no others', async () => {
    const { source, flows, fault, routes, clock } = started();
    const remote = { address: 'no address', port: 1 };
    const broken = { ...opened('1', { remote }), begun: Number.NaN };
    source.push(opened('0'), broken, opened('2'));
    assert.deepEqual(
      (await flows()).map(({ id }) => id),
      ['0', '2'],
    );
    assert.equal(fault()?.code, 'CV_FLOWS_READ');
    await clock.advance(1_000);
    assert.equal(fault(), undefined);
    const { state } = (await ask(routes, DOCUMENT)).body as FlowsDocument;
    assert.equal(state.lost, 1);
  });

  it('have bytes while they are open, counted once', async () => {
    const { source, flows, clock, registry } = started();
    source.push(opened('1'));
    source.setOngoing(goesOn('1', { sent: 40, received: 50, stalledMs: 3.4 }));
    await flows();
    await clock.advance(60_000);
    const [open] = await flows();
    assert.deepEqual(
      [open?.clientBytes, open?.serverBytes, open?.stalledMs, open?.measured, open?.ended],
      [40, 50, 3, '2026-01-31T12:01:00Z', undefined],
    );
    source.push(ended('1'));
    source.setOngoing();
    const [closed] = await flows();
    assert.deepEqual([closed?.clientBytes, closed?.serverBytes], [100, 2_000]);
    assert.equal(closed?.measured, undefined);
    const text = await registry.metrics();
    for (const line of [
      'contiv_flow_bytes_total{workload="shop/client",protocol="TCP",direction="sent"} 100',
      'contiv_flow_bytes_total{workload="shop/client",protocol="TCP",direction="received"} 2000',
      'contiv_flow_connections_total{workload="shop/client",side="client",protocol="TCP",verdict="open"} 1',
    ])
      assert.ok(text.includes(`${line}\n`), `${line} is not in\n${text}`);
  });

  it('of the agent before continue, and none is recorded twice', async () => {
    const { source, flows, clock, registry } = started();
    // the first was closed without an agent, the second is open
    source.push(ended('1'));
    source.setOngoing(goesOn('2', { service: { address: '10.96.0.10', port: 80 } }));
    await clock.advance(60_000);
    const found = await flows();
    assert.deepEqual(
      found.map(({ id, ended: end, service: asked }) => [id, end !== undefined, asked?.name]),
      [
        ['1', true, undefined],
        ['2', false, 'shop/web'],
      ],
    );
    assert.equal(found[1]?.time, '2026-01-31T12:00:00Z');
    source.setOngoing();
    source.push(ended('2'));
    await clock.advance(60_000);
    assert.deepEqual(
      (await flows()).map(({ id }) => id),
      ['1', '2'],
    );
    // the agent before has counted that it began
    assert.match(await registry.metrics(), /side="client",protocol="TCP",verdict="open"} 1\n/);
  });

  it('whose end was not reported end', async () => {
    const { source, flows, clock } = started();
    const time = clock.now();
    source.push(opened('1', { time }), opened('2', { time }));
    source.setOngoing(goesOn('2'));
    await flows();
    await clock.advance(60_000);
    assert.ok((await flows()).every(({ ended: end }) => end === undefined));
    await clock.advance(60_000);
    const found = await flows();
    const lost = found.find(({ id }) => id === '1');
    assert.ok(lost?.ended);
    assert.match(lost.reason, /not reported/);
    assert.equal(found.find(({ id }) => id === '2')?.ended, undefined);
  });

  it('that cannot be measured are reported', async () => {
    const { source, flows, fault, clock } = started();
    await flows();
    source.measure = async () => {
      throw new Error('EPERM');
    };
    await clock.advance(60_000);
    assert.equal(fault()?.code, 'CV_FLOWS_MEASURE');
    source.measure = async () => undefined;
    await clock.advance(60_000);
    assert.equal(fault(), undefined);
  });

  it('of UDP are recorded when they are answered, or not for a second', async () => {
    const { source, flows, clock } = started();
    const begin = clock.now();
    const asked = begun('1', { begun: begin });
    source.push(asked, begun('2', { begun: begin, remote: { address: '10.1.2.3', port: 5_353 } }));
    assert.deepEqual(await flows(), []);
    source.push(opened('1', { ...datagrams, begun: begin }));
    const [open, ...others] = await flows();
    assert.deepEqual(others, []);
    assert.deepEqual([open?.verdict, open?.protocol, open?.server.port], ['open', 'UDP', 53]);
    await clock.advance(1_000);
    const [, silent] = await flows();
    assert.deepEqual([silent?.id, silent?.verdict], ['2', 'no-answer']);
  });

  it('of UDP that get no answer have a reason, until they are answered', async () => {
    const { source, flows, clock } = started();
    const remote = { address: '10.1.2.3', port: 5_432 };
    source.push(begun('1', { begun: clock.now(), remote }));
    await clock.advance(2_000);
    const [denied] = await flows();
    assert.deepEqual([denied?.verdict, denied?.reason], ['denied', 'a policy']);
    source.push(opened('1', { ...datagrams, remote }));
    const [open] = await flows();
    assert.deepEqual([open?.verdict, open?.reason], ['open', '']);
  });

  it('of UDP have datagrams and sockets, and end when they are silent', async () => {
    const { source, flows, clock, registry } = started();
    const counters = { sent: 300, received: 900, rttUs: 0, retransmissions: 0 };
    source.push(opened('1', datagrams));
    await flows();
    const count = { sent: 10, received: 9, sockets: 7 };
    source.setOngoing(
      goesOn('1', { ...datagrams, ...counters, datagrams: count }),
      goesOn('2', { ...datagrams, ...counters, isAnswered: false, datagrams: count }),
    );
    await clock.advance(60_000);
    const [known, earlier] = await flows();
    assert.deepEqual(
      [known?.clientBytes, known?.serverBytes, known?.datagrams, known?.verdict],
      [300, 900, { client: 10, server: 9, sockets: 7 }, 'open'],
    );
    // of the time before this agent
    assert.equal(earlier?.verdict, 'no-answer');
    source.setOngoing(
      ended('1', { ...datagrams, ...counters, retransmissions: 0, datagrams: count }),
      ended('2', { ...datagrams, ...counters, outcome: 'unanswered', datagrams: count }),
    );
    await clock.advance(60_000);
    assert.deepEqual(
      (await flows()).map(({ verdict, ended: end, reason }) => [verdict, end, reason]),
      [
        ['open', '2026-01-31T12:00:02Z', ''],
        ['no-answer', '2026-01-31T12:00:02Z', ''],
      ],
    );
    const text = await registry.metrics();
    assert.match(
      text,
      /contiv_flow_bytes_total{workload="shop\/client",protocol="UDP",direction="received"} 900/,
    );
  });

  it('are selected by their protocol', async () => {
    const { source, flows, routes } = started();
    source.push(opened('1'), opened('2', datagrams));
    await flows();
    assert.deepEqual(
      (await flows({ protocol: ['UDP'] })).map(({ id }) => id),
      ['2'],
    );
    assert.equal((await ask(routes, DOCUMENT, { query: { protocol: ['SCTP'] } })).status, 400);
  });
});
