/** Flows that continue: measured, of the agent before, and when something fails. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FlowsDocument } from '#documents/flows.ts';
import { ask } from '../plugins/policy/asked-route.ts';
import { ended, goesOn, opened } from './connection-events.ts';
import { DOCUMENT, startedFlows } from './started-flows.ts';

describe('flows that continue', () => {
  it('continue when their programs were removed', async () => {
    const { source, flows, fault, clock } = startedFlows();
    source.remove();
    await clock.advance(61_000);
    assert.deepEqual(source.lostParts(), []);
    assert.equal(fault(), undefined);
    source.push(opened('1'));
    assert.equal((await flows()).length, 1);
  });

  it('that cannot be read are reported, and read later', async () => {
    const { source, flows, fault, routes, clock } = startedFlows();
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
    const { source, flows, fault, routes, clock } = startedFlows();
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
    const { source, flows, clock, registry } = startedFlows();
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
    const { source, flows, clock, registry } = startedFlows();
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
    const { source, flows, clock } = startedFlows();
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
    const { source, flows, fault, clock } = startedFlows();
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
});
