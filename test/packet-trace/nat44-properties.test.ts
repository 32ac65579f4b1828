/** Properties that hold for any mappings and packets of NAT44. */
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type TraceMemory, traceMemory } from '#packet-trace/memory.ts';
import type { NatConfig, NatMapping } from '#packet-trace/nat-config.ts';
import {
  type NatRule,
  type NatSession,
  type NatSessions,
  reverse,
} from '#packet-trace/nat-session.ts';
import { type Packet, replyTo } from '#packet-trace/packet.ts';
import { type PacketTrace, tracePacket } from '#packet-trace/tracer.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import {
  backend,
  CLUSTER_IP,
  DB,
  mapping,
  NODE,
  natCluster,
  natConfig,
  OUTSIDE,
  WEB,
} from './nat-builder.ts';

const file = `test/packet-trace/${basename(import.meta.filename)}`;
const CASES = 400;

const protocols = fc.constantFrom('TCP' as const, 'UDP' as const);

/** Several may have one address and port: then the first one counts. */
const mappings: fc.Arbitrary<NatMapping> = fc
  .record({
    protocol: protocols,
    end: fc.constantFrom(
      { address: CLUSTER_IP, port: 80 },
      { address: '10.96.0.2', port: 80 },
      { address: NODE, port: 30_080 },
    ),
    backends: fc.uniqueArray(
      fc.record({
        address: fc.constantFrom(WEB, DB),
        port: fc.constantFrom(80, 8080),
        weight: fc.integer({ min: 1, max: 3 }),
      }),
      { minLength: 1, maxLength: 4, selector: ({ address, port }) => `${address}:${port}` },
    ),
    twiceNat: fc.constantFrom('ENABLED' as const, 'SELF' as const),
    affinity: fc.constantFrom(0, 60),
  })
  .map(({ end, backends, ...rest }) =>
    mapping({
      ...rest,
      ...end,
      backends: backends.map(({ address, port, weight }) => backend(address, port, weight)),
    }),
  );

const configs: fc.Arbitrary<NatConfig> = fc
  .array(mappings, { maxLength: 4 })
  .map((all) => natConfig({ mappings: all }));

interface Client {
  readonly start: string;
  readonly packet: Packet;
}

const clients: fc.Arbitrary<Client> = fc
  .record({
    from: fc.constantFrom(['web', WEB], ['db', DB], ['outside', OUTSIDE]),
    protocol: protocols,
    sourcePort: fc.constantFrom(1, 40_000, 40_001),
    to: fc.constantFrom(
      [CLUSTER_IP, 80],
      ['10.96.0.2', 80],
      [NODE, 30_080],
      [WEB, 8080],
      [DB, 80],
      [OUTSIDE, 443],
    ),
  })
  .map(({ from: [start, source], to: [destination, destinationPort], ...rest }) => ({
    start: start as string,
    packet: {
      ...rest,
      source: source as string,
      destination: destination as string,
      destinationPort: destinationPort as number,
    },
  }));

/** A packet from each client, one after another, with random choices. */
const traffic = fc.record({
  config: configs,
  packets: fc.array(clients, { minLength: 1, maxLength: 6 }),
  choices: fc.infiniteStream(fc.nat()),
});

interface Sent extends Client {
  readonly there: PacketTrace;
}

function send(
  config: NatConfig,
  { start, packet }: Client,
  choices: Iterator<number>,
  memory: TraceMemory,
): Sent {
  const choose = (weights: readonly number[]): number =>
    (choices.next().value ?? 0) % weights.length;
  const there = tracePacket(natCluster(config), start, packet, { memory, choose });
  return { start, packet, there };
}

/** Also collects the sessions that are made. */
function observedMemory(sessions: NatSession[]): TraceMemory {
  const memory = traceMemory();
  return (device) => {
    const { nat: inner, ...others } = memory(device);
    const nat: NatSessions = {
      find: (flow) => inner.find(flow),
      hasRoom: (table, kind) => inner.hasRoom(table, kind),
      add: (session) => {
        sessions.push(session);
        inner.add(session);
      },
      remove: (session) => inner.remove(session),
      use: (...use) => inner.use(...use),
      affinity: (client) => inner.affinity(client),
      addAffinity: (...affinity) => inner.addAffinity(...affinity),
    };
    return { nat, ...others };
  };
}

/** Ends of the packets after a rule. */
function after({ match, ...ends }: NatRule): string {
  return endsOf({ ...match, ...ends });
}

function endsOf(packet: Packet): string {
  const { source, sourcePort, destination, destinationPort } = packet;
  return `${source}:${sourcePort} > ${destination}:${destinationPort}`;
}

describe('NAT44', () => {
  it('returns replies to the client, from the address and port to which it had sent', async () => {
    const name = 'returns replies to the client, from the address and port to which it had sent';
    await checkProperty(
      { file, name },
      CASES,
      fc.asyncProperty(traffic, async ({ config, packets, choices }) => {
        const memory = traceMemory();
        for (const client of packets) {
          const { there, packet, start } = send(config, client, choices, memory);
          if (there.verdict !== 'delivered' || there.device === 'vpp') continue;
          const all = natCluster(config);
          const back = tracePacket(all, there.device, replyTo(there.packet), { memory });
          assert.equal(back.verdict, 'delivered', JSON.stringify([there, back], undefined, 1));
          assert.equal(back.device, start);
          assert.equal(endsOf(back.packet), endsOf(replyTo(packet)));
        }
      }),
    );
  });

  it('keeps a connection at its backend, whatever is chosen later', async () => {
    const name = 'keeps a connection at its backend, whatever is chosen later';
    await checkProperty(
      { file, name },
      CASES,
      fc.asyncProperty(traffic, async ({ config, packets, choices }) => {
        const memory = traceMemory();
        const sent = packets.map((client) => send(config, client, choices, memory));
        for (const { there, start, packet } of sent) {
          if (there.verdict !== 'delivered') continue;
          const again = send(config, { start, packet }, choices, memory).there;
          assert.equal(again.device, there.device);
          assert.equal(endsOf(again.packet), endsOf(there.packet));
        }
      }),
    );
  });

  it('has symmetric sessions: each rule takes back the other one', async () => {
    const name = 'has symmetric sessions: each rule takes back the other one';
    await checkProperty(
      { file, name },
      CASES,
      fc.asyncProperty(traffic, async ({ config, packets, choices }) => {
        const sessions: NatSession[] = [];
        const memory = observedMemory(sessions);
        for (const client of packets) send(config, client, choices, memory);
        for (const { in2out, out2in, inside, outside } of sessions) {
          if (out2in === undefined) continue;
          assert.equal(after(out2in), endsOf(reverse(in2out.match, 0)));
          assert.equal(after(in2out), endsOf(reverse(out2in.match, 0)));
          assert.equal(in2out.match.table, inside.table);
          assert.equal(out2in.match.table, outside.table);
        }
      }),
    );
  });

  it('does not translate sources that an identity exempts', async () => {
    const name = 'does not translate sources that an identity exempts';
    await checkProperty(
      { file, name },
      CASES,
      fc.asyncProperty(traffic, async ({ config, packets, choices }) => {
        const identities = [WEB, DB].map(
          (address) =>
            ({ key: '', label: '', protocol: 'UDP', address, port: 0, table: 1 }) as const,
        );
        const exempt = { ...config, identities: [...config.identities, ...identities] };
        const sessions: NatSession[] = [];
        const memory = observedMemory(sessions);
        for (const client of packets) send(exempt, client, choices, memory);
        assert.deepEqual(
          sessions.filter(({ kind }) => kind === 'dynamic'),
          [],
        );
      }),
    );
  });
});
