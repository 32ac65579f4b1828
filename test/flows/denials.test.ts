/** Records of packets that VPP denies, with a VPP of the test. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { FlowsDocument } from '#documents/flows.ts';
import type { FindReason } from '#flows/flow-reason.ts';
import type { DenialsPort, DeniedPacket } from '#plugins/controller/api/ports/denials.ts';
import { ask } from '../plugins/policy/asked-route.ts';
import { begun, datagrams, unanswered } from './connection-events.ts';
import { DOCUMENT, startedFlows } from './started-flows.ts';

const OUT = 'acl-plugin-out-ip4-fa';
const OUT6 = 'acl-plugin-out-ip6-fa';
const IN = 'acl-plugin-in-ip4-fa';
const NOW = Date.parse('2026-01-31T12:00:00Z');
const outside = { address: '198.51.100.7', port: 40_000 };
const server = { address: '10.1.2.3', port: 80 };
const MOST_KEPT = 64;

function packet(given: Partial<DeniedPacket> = {}): DeniedPacket {
  const ends = { source: outside, destination: server };
  return { time: NOW, protocol: 'TCP', ...ends, isAnswer: false, ...given };
}

/** Counts and keeps packets as VPP does. */
class TestDenials implements DenialsPort {
  readonly #counts = new Map<string, number>();
  #place: string | undefined;
  #kept: DeniedPacket[] = [];
  samples = 0;
  isBusy = false;
  failure: Error | undefined;

  deny(place: string, ...packets: DeniedPacket[]): void {
    this.#counts.set(place, (this.#counts.get(place) ?? 0) + packets.length);
    if (place === this.#place) this.#kept.push(...packets);
  }

  /** VPP is started again. */
  restart(): void {
    this.#counts.clear();
    this.#place = undefined;
    this.#kept = [];
  }

  get isKeeping(): boolean {
    return this.#place !== undefined;
  }

  async counts(): Promise<ReadonlyMap<string, number>> {
    if (this.failure) throw this.failure;
    return new Map(this.#counts);
  }

  async begin(place: string): Promise<boolean> {
    if (this.isBusy) return false;
    this.samples++;
    [this.#place, this.#kept] = [place, []];
    return true;
  }

  async end() {
    const packets = this.#kept.slice(0, MOST_KEPT);
    [this.#place, this.#kept] = [undefined, []];
    return { count: packets.length, packets };
  }
}

const byPolicy: FindReason = async ({ verdict }) => ({
  verdict: 'denied',
  reason: `of ${verdict}`,
});
const noReason: FindReason = async () => undefined;

async function started(findReason: FindReason = byPolicy) {
  const denials = new TestDenials();
  const allocation = { attachment: {}, pod: { namespace: 'shop', name: 'client' } };
  const allocations = () => new Map([['10.1.1.2', allocation]]) as never;
  const flows = startedFlows({ denials, findReason, allocations });
  await flows.clock.advance(100);
  const state = async () => {
    const { body } = await ask(flows.routes, DOCUMENT, { query: {} });
    return (body as FlowsDocument).state.vppDenials;
  };
  return { ...flows, denials, state };
}

describe('packets that VPP denies', () => {
  it('of a client outside have a record with the names of both ends and the policy', async () => {
    const { denials, flows, clock, state } = await started();
    denials.deny(OUT, packet());
    await clock.advance(500);
    denials.deny(OUT, packet({ time: NOW + 1_000 }));
    await clock.advance(500);
    const [flow, ...others] = await flows();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [flow?.seenBy, flow?.side, flow?.verdict, flow?.reason],
      ['vpp', 'server', 'denied', 'of denied'],
    );
    assert.deepEqual([flow?.client.kind, flow?.server.name], ['outside', 'shop/server']);
    assert.equal(flow?.ended, '2026-01-31T12:00:01Z');
    assert.deepEqual(await state(), { packets: 2, sampled: 1 });
  });

  it('that no policy explains are reported as denied by VPP', async () => {
    const { denials, flows, clock } = await started(noReason);
    denials.deny(OUT, packet());
    await clock.advance(500);
    denials.deny(OUT, packet());
    await clock.advance(500);
    assert.equal((await flows())[0]?.reason, 'an ACL of VPP has denied its packets');
  });

  it('have one record for all ports of the client, and another one after a minute', async () => {
    const { denials, flows, clock } = await started();
    const send = async (time: number, port: number) => {
      denials.deny(OUT, packet({ time, source: { ...outside, port } }));
      await clock.advance(500);
    };
    for (const [time, port] of [
      [0, 1],
      [1_000, 2],
      [2_000, 3],
      [90_000, 4],
    ] as const)
      await send(NOW + time, port);
    const found = await flows();
    assert.deepEqual(
      found.map(({ time, ended, client }) => [time, ended, client.port]),
      [
        ['2026-01-31T12:00:01Z', '2026-01-31T12:00:02Z', 2],
        ['2026-01-31T12:01:30Z', '2026-01-31T12:01:30Z', 4],
      ],
    );
  });

  it('of a socket of this node have the record of the socket alone', async () => {
    const { denials, source, flows, clock } = await started();
    const tcp = packet({ source: { address: '10.1.1.2', port: 40_000 } });
    const udp = packet({ ...tcp, protocol: 'UDP', destination: { ...server, port: 53 } });
    source.push(unanswered('1'), begun('2', { ...datagrams, begun: clock.now() }));
    denials.deny(IN, tcp, udp);
    await clock.advance(500);
    denials.deny(IN, tcp, udp);
    await clock.advance(5_000);
    assert.deepEqual((await flows()).map(({ id }) => id).sort(), ['1', '2']);
  });

  it('of a pod without sockets of this kernel have a record of their client', async () => {
    const { denials, flows, clock } = await started();
    const sent = packet({ source: { address: '10.1.1.2', port: 40_000 } });
    denials.deny(IN, sent);
    await clock.advance(500);
    denials.deny(IN, sent);
    await clock.advance(5_000);
    const [flow] = await flows();
    assert.deepEqual([flow?.side, flow?.client.name], ['client', 'shop/client']);
  });

  it('of a server that answers name its client', async () => {
    const { denials, flows, clock } = await started();
    const answer = packet({ source: server, destination: outside, isAnswer: true });
    denials.deny(OUT, answer);
    await clock.advance(500);
    denials.deny(OUT, answer);
    await clock.advance(500);
    const [flow] = await flows();
    assert.deepEqual([flow?.client.address, flow?.server.port], ['198.51.100.7', 80]);
  });

  it('at another place are kept from the first one on, once those of the last place have ended', async () => {
    const { denials, flows, clock } = await started();
    const send = async (place: string, sent: DeniedPacket) => {
      denials.deny(place, sent);
      await clock.advance(1_000);
    };
    for (const time of [NOW, NOW + 1_000]) await send(OUT, packet({ time }));
    await clock.advance(1_000);
    const other = { address: '2001:db8::7', port: 40_000 };
    for (const time of [NOW + 3_000, NOW + 4_000])
      await send(OUT6, packet({ time, source: other }));
    const clients = (await flows()).map(({ client }) => client.address);
    assert.deepEqual(clients, [outside.address, other.address]);
  });

  it('at another place are kept at once, if the clients of the last place have been seen', async () => {
    const { denials, flows, clock } = await started();
    for (const time of [NOW, NOW + 1_000]) {
      denials.deny(OUT, packet({ time }));
      await clock.advance(1_000);
    }
    const other = { address: '2001:db8::7', port: 40_000 };
    denials.deny(OUT6, packet({ time: NOW + 2_000, source: other }));
    await clock.advance(500);
    denials.deny(OUT, packet({ time: NOW + 2_500 }));
    denials.deny(OUT6, packet({ time: NOW + 2_500, source: other }));
    await clock.advance(500);
    const clients = (await flows()).map(({ client }) => client.address);
    assert.deepEqual(clients, [outside.address, other.address]);
  });

  it('are kept at each place in turn, and not for ever', async () => {
    const { denials, clock } = await started();
    denials.deny(OUT, packet());
    denials.deny(IN, packet());
    await clock.advance(500);
    assert.ok(denials.isKeeping);
    await clock.advance(20_000);
    assert.ok(!denials.isKeeping);
  });

  it('that are many cost a bounded number of samples, and all are counted', async () => {
    const { denials, clock, state } = await started();
    for (let i = 0; i < 600; i++) {
      denials.deny(OUT, ...Array.from({ length: 100 }, () => packet()));
      await clock.advance(500);
    }
    // 100 at once, and one in 20 s
    assert.ok(denials.samples <= 100 + 300 / 20 + 1, `${denials.samples}`);
    const { packets, sampled } = (await state())!;
    assert.equal(packets, 60_000);
    assert.ok(sampled <= denials.samples * MOST_KEPT && sampled > 0, `${sampled}`);
  });

  it('are counted while someone else captures packets of VPP', async () => {
    const { denials, flows, clock, state } = await started();
    denials.isBusy = true;
    denials.deny(OUT, packet());
    await clock.advance(500);
    denials.deny(OUT, packet());
    await clock.advance(500);
    assert.deepEqual(await flows(), []);
    assert.deepEqual(await state(), { packets: 2, sampled: 0 });
  });

  it('that cannot be read are reported, and read later', async () => {
    const { denials, fault, flows, clock } = await started();
    denials.failure = new Error('VPP is unavailable');
    await clock.advance(500);
    assert.equal(fault()?.code, 'CV_FLOWS_DENIALS');
    denials.failure = undefined;
    await clock.advance(10_000);
    assert.equal(fault(), undefined);
    denials.deny(OUT, packet());
    await clock.advance(500);
    denials.deny(OUT, packet());
    await clock.advance(500);
    assert.equal((await flows()).length, 1);
  });

  it('are kept no more when the agent ends', async () => {
    const { denials, clock, components } = await started();
    denials.deny(OUT, packet());
    await clock.advance(500);
    assert.ok(denials.isKeeping);
    await components[0]?.close?.();
    assert.ok(!denials.isKeeping);
  });

  it('are counted exactly, whenever VPP is started again', async () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ deny: fc.integer({ min: 0, max: 200 }) }) },
      { weight: 1, arbitrary: fc.constant({ deny: -1 }) },
      { weight: 1, arbitrary: fc.constant({ deny: -2 }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { denials, clock, state } = await started();
        let all = 0;
        for (const { deny } of steps) {
          if (deny === -1) denials.restart();
          else if (deny === -2) denials.isBusy = !denials.isBusy;
          else {
            denials.deny(all % 2 ? OUT : IN, ...Array.from({ length: deny }, () => packet()));
            all += deny;
          }
          await clock.advance(500);
        }
        const { packets, sampled } = (await state())!;
        assert.ok(sampled <= packets);
        assert.equal(packets, all);
      }),
      { numRuns: 50 },
    );
  });
});
