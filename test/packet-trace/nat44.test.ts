/** NAT44 in packet traces: where VPP translates, and the way of the replies. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { traceBranches } from '#packet-trace/branches.ts';
import { traceMemory } from '#packet-trace/memory.ts';
import type { NatConfig } from '#packet-trace/nat-config.ts';
import { type Packet, replyTo } from '#packet-trace/packet.ts';
import { type PacketTrace, tracePacket } from '#packet-trace/tracer.ts';
import {
  backend,
  CLUSTER_IP,
  DB,
  mapping,
  NODE,
  NODE_LOOPBACK,
  natCluster,
  natConfig,
  OUTSIDE,
  WEB,
} from './nat-builder.ts';
import { verdict } from './snapshot-builder.ts';

const tcp = (source: string, destination: string, destinationPort = 80): Packet => ({
  source,
  destination,
  protocol: 'TCP',
  sourcePort: 40_000,
  destinationPort,
});

interface Connection {
  readonly there: PacketTrace;
  readonly back: PacketTrace;
}

/** A packet, and the reply of its receiver. */
function connect(
  nat: NatConfig,
  start: string,
  packet: Packet,
  memory = traceMemory(),
): Connection {
  const all = natCluster(nat);
  const there = tracePacket(all, start, packet, { memory });
  assert.equal(there.verdict, 'delivered', verdict(there));
  return { there, back: tracePacket(all, there.device, replyTo(there.packet), { memory }) };
}

/** Device and ends of a packet that arrived. */
function ends({ device, packet }: PacketTrace): string {
  const { source, sourcePort, destination, destinationPort } = packet;
  return `${device}: ${source}:${sourcePort} > ${destination}:${destinationPort}`;
}

function translations({ hops }: PacketTrace): string[] {
  return hops.flatMap(({ description, key }) =>
    description.includes('translated') ? [`${description} [${key}]`] : [],
  );
}

describe('a packet to a service', () => {
  it('is translated at the interface of the client, and its reply at that of the backend', () => {
    const { there, back } = connect(natConfig(), 'web', tcp(WEB, CLUSTER_IP));
    assert.equal(ends(there), `db: ${WEB}:40000 > ${DB}:8080`);
    assert.equal(ends(back), `web: ${CLUSTER_IP}:80 > ${WEB}:40000`);
    assert.deepEqual(translations(there), [
      `service default/web: ${CLUSTER_IP}:80 is translated to ${DB}:8080 [dnat/default/web]`,
    ]);
    assert.deepEqual(translations(back), [
      `reply of service default/web: ${DB}:8080 is translated to ${CLUSTER_IP}:80 [dnat/default/web]`,
    ]);
  });

  it('has no reply where the interface of the backend is not inside', () => {
    const features = natConfig().features.filter(({ side }) => side !== 'in');
    const { back } = connect(natConfig({ features }), 'web', tcp(WEB, CLUSTER_IP));
    // forwarding finds the session at an interface that is outside, too
    assert.equal(ends(back), `web: ${CLUSTER_IP}:80 > ${WEB}:40000`);
    const none = features.filter((one) => one.interface !== 'tapDb');
    const lost = connect(natConfig({ features: none }), 'web', tcp(WEB, CLUSTER_IP)).back;
    assert.equal(ends(lost), `web: ${DB}:8080 > ${WEB}:40000`);
  });

  it('of the client itself comes from the NAT loopback address', () => {
    const mappings = [mapping({ backends: [backend(WEB)] })];
    const { there, back } = connect(natConfig({ mappings }), 'web', tcp(WEB, CLUSTER_IP));
    assert.match(ends(there), new RegExp(`^web: ${NODE_LOOPBACK}:\\d+ > ${WEB}:8080$`));
    assert.equal(ends(back), `web: ${CLUSTER_IP}:80 > ${WEB}:40000`);
  });

  it('from outside gets an address of the node with twice-NAT', () => {
    const mappings = [mapping({ address: NODE, port: 30_080, twiceNat: 'ENABLED' })];
    const { there, back } = connect(natConfig({ mappings }), 'outside', tcp(OUTSIDE, NODE, 30_080));
    assert.match(ends(there), new RegExp(`^db: ${NODE_LOOPBACK}:\\d+ > ${DB}:8080$`));
    assert.equal(ends(back), `outside: ${NODE}:30080 > ${OUTSIDE}:40000`);
  });

  it('gets the twice-NAT address of the table of the backend, else any: VPP ignores their tables', () => {
    const mappings = [mapping({ address: NODE, port: 30_080, twiceNat: 'ENABLED' })];
    const loopback = { key: '', address: NODE_LOOPBACK };
    const other = { key: '', address: NODE, table: 0 };
    for (const [table, address] of [
      [1, NODE_LOOPBACK],
      [undefined, NODE],
    ] as const) {
      // the backend is in table 1
      const nat = natConfig({ mappings, twiceNatPool: [{ ...loopback, table }, other] });
      const there = tracePacket(natCluster(nat), 'outside', tcp(OUTSIDE, NODE, 30_080));
      assert.equal(there.packet.source, address);
    }
  });

  it('from outside keeps its address without twice-NAT', () => {
    const mappings = [mapping({ address: NODE, port: 30_080 })];
    const { there, back } = connect(natConfig({ mappings }), 'outside', tcp(OUTSIDE, NODE, 30_080));
    assert.equal(ends(there), `db: ${OUTSIDE}:40000 > ${DB}:8080`);
    assert.equal(ends(back), `outside: ${NODE}:30080 > ${OUTSIDE}:40000`);
  });

  it('at an address that is not of the node needs an identity for its replies', () => {
    const address = '203.0.113.10';
    const mappings = [mapping({ address, twiceNat: 'ENABLED' })];
    const nat = natConfig({ mappings });
    const lost = connect(nat, 'outside', tcp(OUTSIDE, address)).back;
    assert.match(verdict(lost), /^dropped: dropped: NAT has no session/);
    const key = '';
    // in a table without traffic: the pool only lets VPP recognize the address
    const pool = [...nat.pool, { key, address, table: 99 }];
    const identity = { key, label: '', protocol: 'UDP', address, port: 0, table: 1 } as const;
    const exempt = natConfig({ mappings, pool, identities: [...nat.identities, identity] });
    for (const [name, client] of [
      ['outside', OUTSIDE],
      ['web', WEB],
    ] as const) {
      const { back } = connect(exempt, name, tcp(client, address));
      assert.equal(ends(back), `${name}: ${address}:80 > ${client}:40000`);
    }
  });

  it('is not translated for another protocol or port', () => {
    const all = natCluster(natConfig());
    for (const packet of [
      { ...tcp(WEB, CLUSTER_IP), protocol: 'UDP' as const },
      tcp(WEB, CLUSTER_IP, 81),
      { source: WEB, destination: CLUSTER_IP },
    ])
      assert.deepEqual(translations(tracePacket(all, 'web', packet)).filter(isOfService), []);
  });

  it('within a TCP connection without a session is dropped', () => {
    const packet: Packet = { ...tcp(WEB, CLUSTER_IP), tcpFlags: ['ACK'] };
    const lost = tracePacket(natCluster(natConfig()), 'web', packet);
    assert.match(verdict(lost), /^dropped: dropped: NAT has no session/);
  });
});

const isOfService = (text: string): boolean => text.startsWith('service');

describe('a session', () => {
  it('also translates replies to the same client port that belong to no service', () => {
    const memory = traceMemory();
    connect(natConfig(), 'web', tcp(WEB, CLUSTER_IP), memory);
    const { back } = connect(natConfig(), 'web', tcp(WEB, DB, 8080), memory);
    assert.equal(ends(back), `web: ${CLUSTER_IP}:80 > ${WEB}:40000`);
  });
});

describe('balancing', () => {
  const shared = mapping({ backends: [backend(WEB), backend(DB, 8080, 3)] });

  it('has a branch for each backend, with its share', () => {
    const all = natCluster(natConfig({ mappings: [shared] }));
    const branches = traceBranches(all, 'outside', tcp(OUTSIDE, CLUSTER_IP));
    const routed = traceBranches(all, 'web', tcp(WEB, CLUSTER_IP));
    assert.deepEqual(branches.map(({ share }) => share).length, 1);
    assert.deepEqual(
      routed.map(({ share, trace }) => [share, trace.device]),
      [
        [0.25, 'web'],
        [0.75, 'db'],
      ],
    );
    for (const { trace, memory } of routed) {
      const back = tracePacket(all, trace.device, replyTo(trace.packet), { memory });
      assert.equal(ends(back), `web: ${CLUSTER_IP}:80 > ${WEB}:40000`);
    }
  });

  it('sends a client with affinity to the same backend', () => {
    const nat = natConfig({ mappings: [{ ...shared, affinity: 60 }] });
    const memory = traceMemory();
    const options = { memory, choose: () => 1 };
    const all = natCluster(nat);
    assert.equal(tracePacket(all, 'web', tcp(WEB, CLUSTER_IP), options).device, 'db');
    const next = { ...tcp(WEB, CLUSTER_IP), sourcePort: 40_001 };
    const branches = traceBranches(all, 'web', next, memory);
    assert.deepEqual(
      branches.map(({ share, trace }) => [share, trace.device]),
      [[1, 'db']],
    );
  });
});

describe('source NAT', () => {
  it('gives traffic that leaves by the uplink the address of the node', () => {
    const memory = traceMemory();
    const packet = tcp(WEB, OUTSIDE, 443);
    const { there, back } = connect(natConfig(), 'web', packet, memory);
    assert.equal(ends(there), `outside: ${NODE}:40000 > ${OUTSIDE}:443`);
    assert.equal(ends(back), `web: ${OUTSIDE}:443 > ${WEB}:40000`);
    const next = { ...packet, tcpFlags: ['ACK' as const] };
    assert.equal(ends(tracePacket(natCluster(natConfig()), 'web', next, { memory })), ends(there));
  });

  it('gives two clients with one port two ports', () => {
    const memory = traceMemory();
    const first = connect(natConfig(), 'web', tcp(WEB, OUTSIDE, 443), memory);
    const second = connect(natConfig(), 'db', tcp(DB, OUTSIDE, 443), memory);
    assert.equal(ends(first.there), `outside: ${NODE}:40000 > ${OUTSIDE}:443`);
    assert.equal(ends(second.there), `outside: ${NODE}:40001 > ${OUTSIDE}:443`);
    assert.equal(ends(second.back), `db: ${OUTSIDE}:443 > ${DB}:40000`);
  });

  it('also translates echoes, by their identifier', () => {
    const echo: Packet = {
      source: WEB,
      destination: OUTSIDE,
      protocol: 'ICMP',
      sourcePort: 7000,
      destinationPort: 7000,
    };
    const { there, back } = connect(natConfig(), 'web', echo);
    assert.equal(ends(there), `outside: ${NODE}:7000 > ${OUTSIDE}:7000`);
    assert.equal(ends(back), `web: ${OUTSIDE}:7000 > ${WEB}:7000`);
  });

  it('without a free address drops', () => {
    const lost = tracePacket(natCluster(natConfig({ pool: [] })), 'web', tcp(WEB, OUTSIDE, 443));
    assert.match(verdict(lost), /the NAT pool has no free address/);
  });

  it('needs the identity of the node for the second packet of a connection', () => {
    const memory = traceMemory();
    const nat = natConfig({ identities: [] });
    const packet = tcp(WEB, OUTSIDE, 443);
    connect(nat, 'web', packet, memory);
    const next = { ...packet, tcpFlags: ['ACK' as const] };
    const lost = tracePacket(natCluster(nat), 'web', next, { memory });
    assert.match(verdict(lost), /^dropped/);
  });
});

describe('untranslated traffic', () => {
  it('passes with forwarding, in both directions', () => {
    const { there, back } = connect(natConfig(), 'web', tcp(WEB, DB, 5432));
    assert.equal(ends(there), `db: ${WEB}:40000 > ${DB}:5432`);
    assert.equal(ends(back), `web: ${DB}:5432 > ${WEB}:40000`);
    assert.deepEqual([...translations(there), ...translations(back)], []);
  });

  it('without forwarding is dropped where it enters from outside', () => {
    const features = [{ interface: 'tapWeb', side: 'out' as const }];
    const nat = natConfig({ forwarding: false, features });
    const lost = tracePacket(natCluster(nat), 'web', tcp(WEB, DB, 5432));
    assert.match(verdict(lost), /NAT has no mapping for .* and forwarding is off/);
  });
});
