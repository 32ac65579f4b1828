/** Flows of UDP. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { begun, datagrams, ended, goesOn, opened } from './connection-events.ts';
import { startedFlows } from './started-flows.ts';

describe('flows', () => {
  it('of UDP are recorded when they are answered, or not for a second', async () => {
    const { source, flows, clock } = startedFlows();
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
    const { source, flows, clock } = startedFlows();
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
    const { source, flows, clock, registry } = startedFlows();
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
});
