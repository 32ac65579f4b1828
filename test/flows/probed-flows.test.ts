/** Records of what VPP has counted at memifs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ProbedFlow } from '#flows/probe/probed-flow.ts';
import { ProbedFlows } from '#flows/probe/probed-flows.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import type { ConnectionEvent, OngoingConnection } from '#linux/socket-flows/api.ts';

const pod = { address: '10.1.1.2', port: 40_000 };
const server = { address: '10.1.2.3', port: 80 };
const none = { isSyn: false, isFin: false, isRst: false };

function report(isFromPod: boolean, given: Partial<ProbedFlow> = {}): ProbedFlow {
  return {
    protocol: 'TCP',
    swIfIndex: 1,
    isFromPod,
    source: isFromPod ? pod : server,
    destination: isFromPod ? server : pod,
    packets: 5,
    bytes: 500,
    begun: isFromPod ? 1_000 : 1_000.4,
    last: 2_000,
    ...none,
    ...given,
  };
}

function started(isDenied: () => boolean = () => false) {
  const clock = new ManualClock();
  const events: (ConnectionEvent | OngoingConnection)[] = [];
  const displaced: string[] = [];
  const flows = new ProbedFlows({
    recorder: {
      record: (event) => events.push(event),
      measure: (event) => events.push(event),
      endUnreported: (id) => displaced.push(id),
    },
    ring: { notify: () => undefined },
    isDenied,
    clock,
  });
  const after = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      await clock.advance(1_000);
      flows.settle();
    }
  };
  return { flows, after, events, displaced, kinds: () => events.map(({ kind }) => kind) };
}

describe('what VPP has counted', () => {
  it('of both directions is one connection, which ends with FIN of both', async () => {
    const { flows, after, events, kinds } = started();
    flows.add(report(true, { isSyn: true, isFin: true }));
    assert.deepEqual(kinds(), []);
    flows.add(report(false, { isSyn: true, isFin: true, bytes: 7_000 }));
    assert.deepEqual(kinds(), ['opened']);
    // the last acknowledgement
    flows.add(report(true, { packets: 1, bytes: 40, last: 2_100 }));
    await after(10_000);
    const last = events.at(-1)!;
    assert.ok(last.kind === 'ended' && last.outcome === 'closed');
    assert.deepEqual(
      [last.side, last.sent, last.received, last.begun, last.time, last.local, last.remote],
      ['client', 540, 7_000, 1_000, 2_100, pod, server],
    );
    const [id] = new Set(events.map((one) => one.id));
    assert.ok(events.every((one) => one.id === id));
    const count = events.length;
    await after(400_000);
    assert.equal(events.length, count);
  });

  it('the end that has sent the first packet is the client, or that with the higher port', () => {
    const side = (...reports: readonly ProbedFlow[]) => {
      const { flows, events } = started();
      for (const one of reports) flows.add(one);
      return events[0]?.side;
    };
    const syn = { isSyn: true };
    assert.equal(side(report(true, { ...syn, begun: 9 }), report(false, syn)), 'client');
    assert.equal(side(report(false, { ...syn, begun: 9 }), report(true, syn)), 'server');
    // it was open before VPP has counted
    assert.equal(side(report(false, { begun: 9 }), report(true)), 'client');
    const udp = { protocol: 'UDP' } as const;
    assert.equal(side(report(false, { ...udp, begun: 9 }), report(true, udp)), 'server');
  });

  it('a reset that answers the first packet is a refusal', () => {
    const { flows, events } = started();
    flows.add(report(false, { isRst: true, packets: 1, bytes: 40 }));
    flows.add(report(true, { isSyn: true, packets: 1, bytes: 60 }));
    const [only] = events;
    assert.ok(only?.kind === 'ended' && only.outcome === 'refused' && only.side === 'client');
  });

  it('without an answer it is recorded after the time in which VPP reports one, and an answer changes that', async () => {
    const { flows, after, kinds } = started();
    flows.add(report(true, { isSyn: true }));
    await after(8_000);
    assert.deepEqual(kinds(), []);
    await after(2_000);
    // what the recorder leaves out, because bytes of TCP without an answer say nothing
    const recorded = () => kinds().filter((kind) => kind !== 'goes-on');
    assert.deepEqual(recorded(), ['unanswered']);
    flows.add(report(false, { isSyn: true }));
    assert.deepEqual(recorded(), ['unanswered', 'opened']);
  });

  it('without an answer, and denied by VPP, it has the record of the denial alone', async () => {
    const { flows, after, kinds } = started(() => true);
    flows.add(report(true, { isSyn: true }));
    await after(120_000);
    assert.deepEqual(kinds(), []);
  });

  it('denied by VPP, and answered later, it is open', async () => {
    const { flows, after, kinds } = started(() => true);
    const udp = { protocol: 'UDP' } as const;
    for (let time = 0; time < 12; time += 4) {
      flows.add(report(true, udp));
      await after(4_000);
    }
    assert.deepEqual(kinds(), []);
    flows.add(report(false, udp));
    assert.deepEqual(kinds(), ['opened']);
  });

  it('without an answer while it sends it has a record, and is measured once a minute', async () => {
    const { flows, after, events, kinds } = started();
    const udp = { protocol: 'UDP' } as const;
    for (let time = 0; time < 90; time += 5) {
      flows.add(report(true, udp));
      await after(5_000);
    }
    assert.deepEqual(kinds(), ['unanswered', 'goes-on', 'goes-on']);
    const last = events.at(-1)!;
    assert.ok(last.kind === 'goes-on' && !last.isAnswered && last.sent > 500);
  });

  it('one direction of a connection that was open before is no attempt', async () => {
    const { flows, after, kinds } = started();
    flows.add(report(true));
    await after(400_000);
    assert.deepEqual(kinds(), []);
  });

  it('what continues is measured, and ends when it is silent', async () => {
    const { flows, after, events, kinds } = started();
    const udp = { protocol: 'UDP' } as const;
    flows.add(report(true, udp));
    flows.add(report(false, udp));
    await after(20_000);
    assert.deepEqual(kinds(), ['opened', 'goes-on']);
    flows.add(report(true, { ...udp, last: 20_000 }));
    await after(61_000);
    const last = events.at(-1)!;
    assert.ok(last.kind === 'ended' && last.outcome === 'closed' && last.time === 20_000);
    assert.deepEqual(last.datagrams, { sent: 10, received: 5, sockets: 1 });
  });

  it('an agent that has restarted finds the same ID', () => {
    const idOf = () => {
      const { flows, events } = started();
      flows.add(report(true));
      flows.add(report(false));
      return events[0]?.id;
    };
    assert.equal(idOf(), idOf());
  });

  it('ports that are used again are another connection', async () => {
    const { flows, after, events } = started();
    const syn = { isSyn: true, isFin: true };
    flows.add(report(true, syn));
    flows.add(report(false, syn));
    await after(10_000);
    flows.add(report(true, { ...syn, begun: 12_000, last: 12_500 }));
    flows.add(report(false, { ...syn, begun: 12_001, last: 12_500 }));
    assert.equal(new Set(events.map(({ id }) => id)).size, 2);
  });

  it('more than there are places for take the place of those that were silent longest', async () => {
    const { flows, after, events, displaced } = started();
    for (const isFromPod of [true, false]) flows.add(report(isFromPod));
    const [{ id }] = events as [ConnectionEvent];
    await after(1_000);
    const scan = (number: number) => {
      const address = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
      flows.add(report(true, { isSyn: true, destination: { address, port: 80 } }));
    };
    for (let number = 0; number < 32_767; number++) scan(number);
    assert.deepEqual([displaced, flows.displaced], [[], 0]);
    for (let number = 32_767; number < 32_777; number++) scan(number);
    assert.deepEqual([displaced, flows.displaced], [[id], 10]);
  });

  it('multicast has no record', async () => {
    const { flows, after, kinds } = started();
    for (const address of ['224.0.0.251', '239.1.1.1', '255.255.255.255', 'ff02::fb'])
      flows.add(report(true, { protocol: 'UDP', destination: { address, port: 5_353 } }));
    await after(20_000);
    assert.deepEqual(kinds(), []);
  });

  it('bytes are counted once, in whatever order and parts they come', () => {
    const part = fc.record({
      isFromPod: fc.boolean(),
      bytes: fc.nat(10_000),
      packets: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 30 }), async (parts) => {
        const { flows, after, events } = started();
        const fin = { isSyn: true, isFin: true };
        const all = [
          ...parts,
          ...[true, false].map((isFromPod) => ({ isFromPod, bytes: 1, packets: 1 })),
        ];
        for (const { isFromPod, ...counts } of all)
          flows.add(report(isFromPod, { ...counts, ...fin }));
        await after(10_000);
        const last = events.at(-1)!;
        const sum = (from: boolean) =>
          all.filter((one) => one.isFromPod === from).reduce((total, one) => total + one.bytes, 0);
        assert.ok(last.kind === 'ended');
        assert.deepEqual([last.sent, last.received], [sum(true), sum(false)]);
      }),
    );
  });
});
