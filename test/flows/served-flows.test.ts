/** Routes and metrics of flows. */
import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import type { Flow, FlowsDocument } from '#documents/flows.ts';
import { answer } from '#infra/http/route.ts';
import { KubeStateChange } from '#plugins/controller/api/events.ts';
import { ask } from '../plugins/policy/asked-route.ts';
import { datagrams, ended, opened, unanswered } from './connection-events.ts';
import { DOCUMENT, pod, startedFlows } from './started-flows.ts';

describe('flows', () => {
  it('are selected', async () => {
    const { source, flows } = startedFlows();
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
    const { routes } = startedFlows();
    for (const query of [{ verdict: ['closed'] }, { last: ['x'] }, { since: ['yesterday'] }])
      assert.equal((await ask(routes, DOCUMENT, { query })).status, 400);
  });

  it('are selected by their protocol', async () => {
    const { source, flows, routes } = startedFlows();
    source.push(opened('1'), opened('2', datagrams));
    await flows();
    assert.deepEqual(
      (await flows({ protocol: ['UDP'] })).map(({ id }) => id),
      ['2'],
    );
    assert.equal((await ask(routes, DOCUMENT, { query: { protocol: ['SCTP'] } })).status, 400);
  });

  it('are bounded, and what was lost is in the document', async () => {
    const { source, flows, routes } = startedFlows({ records: 100 });
    for (let n = 0; n < 250; n++) source.push(ended(String(n)));
    source.lose(3);
    assert.equal((await flows()).length, 100);
    const { body } = await ask(routes, DOCUMENT);
    assert.deepEqual((body as FlowsDocument).state, {
      isRecording: true,
      records: 100,
      capacity: 100,
      displaced: 0,
      lost: 3,
    });
  });

  it('are streamed when they begin and change', async () => {
    const { source, flows, routes, clock } = startedFlows();
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
    const { source, flows, registry } = startedFlows();
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
    const { peers, source, flows, registry } = startedFlows();
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
});
