/** ACLs in packet traces: where VPP compares packets with them, and the sessions that they make. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DeepInput } from '#models/model.ts';
import { type Acl, aclModel } from '#models/vpp/acl.ts';
import type { AclConfig } from '#packet-trace/acl-config.ts';
import { aclsOfValues } from '#packet-trace/acl-values.ts';
import type { NodeIsolation } from '#packet-trace/isolation.ts';
import { type TraceMemory, traceMemory } from '#packet-trace/memory.ts';
import { type Packet, replyTo } from '#packet-trace/packet.ts';
import type { Snapshot } from '#packet-trace/snapshot.ts';
import { type PacketTrace, tracePacket } from '#packet-trace/tracer.ts';
import {
  CLUSTER_IP,
  DB,
  NODE,
  NODE_LOOPBACK,
  natCluster,
  natConfig,
  OUTSIDE,
  WEB,
} from './nat-builder.ts';
import { iface, verdict } from './snapshot-builder.ts';

type Rules = NonNullable<DeepInput<Acl>['rules']>;

const permitAny: Rules = [{ action: 'PERMIT', ip_rule: {} }];
const denyAny: Rules = [{ action: 'DENY', ip_rule: {} }];
/** Only packets that open a TCP connection make a session. */
const track: Rules = [
  { action: 'REFLECT', ip_rule: { tcp: { tcp_flags_mask: 0x12, tcp_flags_value: 0x02 } } },
  { action: 'PERMIT', ip_rule: { tcp: {} } },
  { action: 'REFLECT', ip_rule: {} },
];
const tcpFrom = (source: string, port: number): Rules => [
  {
    action: 'PERMIT',
    ip_rule: {
      ip: { source_network: source },
      tcp: { destination_port_range: { lower_port: port, upper_port: port } },
    },
  },
];

/** @param bound such as `in tapWeb` */
function acls(bound: Readonly<Record<string, Rules>>): AclConfig | undefined {
  const values = Object.entries(bound).map(([place, rules]) => {
    const [side, name] = place.split(' ') as [string, string];
    const interfaces = side === 'in' ? { ingress: [name] } : { egress: [name] };
    const value = aclModel.canonical({ name: place.replace(' ', '-'), rules, interfaces });
    return [aclModel.key(value), value] as const;
  });
  return aclsOfValues(new Map(values));
}

/** Pods `web` and `db`, and a machine outside. */
function cluster(bound: Readonly<Record<string, Rules>>): Snapshot {
  const all = natCluster(natConfig());
  const vpp = all.devices.get('vpp')!;
  return { ...all, devices: new Map(all.devices).set('vpp', { ...vpp, acls: acls(bound) }) };
}

const tcp = (source: string, destination: string, destinationPort = 80): Packet => ({
  source,
  destination,
  protocol: 'TCP',
  sourcePort: 40_000,
  destinationPort,
});

function hopsOfAcls({ hops }: PacketTrace): string[] {
  return hops.flatMap(({ description, key }) =>
    description.includes('ACL') ? [`${description} [${key}]`] : [],
  );
}

describe('a packet that enters or leaves by an interface with ACLs', () => {
  it('is decided by the first rule that matches, which the trace names with its ACL', () => {
    const all = cluster({ 'in tapWeb': track, 'out tapDb': [...tcpFrom(WEB, 80), ...denyAny] });
    const key = 'config/vpp/acls/v2/acl';
    assert.deepEqual(hopsOfAcls(tracePacket(all, 'web', tcp(WEB, DB))), [
      `permitted at the input of tapWeb by rule 0 of ACL in-tapWeb, which makes a session [${key}/in-tapWeb]`,
      `permitted at the output of tapDb by rule 0 of ACL out-tapDb [${key}/out-tapDb]`,
    ]);
    const denied = tracePacket(all, 'web', tcp(WEB, DB, 81));
    assert.equal(
      verdict(denied),
      'dropped: dropped: denied at the output of tapDb by rule 1 of ACL out-tapDb',
    );
    assert.equal(denied.hops.at(-1)?.key, `${key}/out-tapDb`);
  });

  it('is dropped if no rule matches, also by address alone', () => {
    const all = cluster({ 'out tapDb': tcpFrom(WEB, 80) });
    for (const packet of [{ source: WEB, destination: DB }, tcp(WEB, DB, 81)])
      assert.match(verdict(tracePacket(all, 'web', packet)), /tapDb: no rule of its ACLs matches$/);
    assert.equal(tracePacket(all, 'db', tcp(DB, WEB, 81)).verdict, 'delivered');
  });

  it('is compared before the input translates it, and after the output has', () => {
    const permitsService = { 'in tapWeb': [...permitTo(CLUSTER_IP), ...denyAny] };
    const permitsBackend = { 'in tapWeb': [...permitTo(DB), ...denyAny] };
    const request = tcp(WEB, CLUSTER_IP);
    assert.equal(tracePacket(cluster(permitsService), 'web', request).verdict, 'delivered');
    assert.equal(tracePacket(cluster(permitsBackend), 'web', request).verdict, 'dropped');
    const out = { 'out tapDb': [...tcpFrom(WEB, 8080), ...denyAny] };
    assert.equal(tracePacket(cluster(out), 'web', request).verdict, 'delivered');
    // source NAT precedes the ACLs of the uplink
    const toOutside = tcp(WEB, OUTSIDE);
    const podsAtUplink = { 'out uplink': [...tcpFrom(WEB, 80), ...denyAny] };
    const nodeAtUplink = { 'out uplink': [...tcpFrom(NODE, 80), ...denyAny] };
    assert.equal(tracePacket(cluster(podsAtUplink), 'web', toOutside).verdict, 'dropped');
    assert.equal(tracePacket(cluster(nodeAtUplink), 'web', toOutside).verdict, 'delivered');
  });

  it('has the address of the pod at a loopback by which it is routed before source NAT', () => {
    const all = cluster({ 'out gate': [...tcpFrom(WEB, 80), ...denyAny] });
    const vpp = all.devices.get('vpp')!;
    const mac = '02:00:00:00:00:77';
    const gate = iface('gate', ['169.254.77.1/30'], { mac, isLoopback: true });
    const toGate = { kind: 'via', interface: 'gate', nextHop: '169.254.77.2' } as const;
    const routes = vpp.routes.map((route) =>
      route.destination === '0.0.0.0/0' ? { ...route, action: toGate } : route,
    );
    const neighbors = [{ interface: 'gate', address: '169.254.77.2', mac, key: '' }];
    const interfaces = new Map(vpp.interfaces).set('gate', gate);
    const devices = new Map(all.devices).set('vpp', { ...vpp, interfaces, routes, neighbors });
    const toOutside = (port: number): PacketTrace =>
      tracePacket({ ...all, devices }, 'web', tcp(WEB, OUTSIDE, port));
    assert.equal(toOutside(80).verdict, 'delivered');
    assert.equal(toOutside(80).packet.source, NODE);
    assert.match(verdict(toOutside(81)), /denied at the output of gate by rule 1/);
  });

  it('has the address of the NAT loopback when a pod reaches itself by a service', () => {
    const all = cluster({ 'out tapDb': [...tcpFrom(NODE_LOOPBACK, 8080), ...denyAny] });
    assert.equal(tracePacket(all, 'db', tcp(DB, CLUSTER_IP)).verdict, 'delivered');
  });
});

describe('a packet that the ACLs of policies deny', () => {
  const rules = { 'in tapWeb': denyAny };
  const key = 'config/vpp/acls/v2/acl/in-tapWeb';
  const pods: NodeIsolation['pods'] = [
    { pod: 'shop/web', addresses: [WEB], ingress: [], egress: ['shop/out'] },
    { pod: 'shop/db', addresses: [DB], ingress: ['shop/default-deny', 'shop/db'], egress: [] },
  ];
  const because = (isolation: NodeIsolation, destination: string): string => {
    const all = cluster(rules);
    const devices = new Map(all.devices);
    devices.set('vpp', { ...devices.get('vpp')!, isolation });
    return verdict(tracePacket({ ...all, devices }, 'web', tcp(WEB, destination)));
  };
  const BY_DB = 'shop/db is isolated for ingress by shop/default-deny, shop/db';
  const BY_WEB = 'shop/web is isolated for egress by shop/out';
  const DENIED = 'denied at the input of tapWeb by rule 0 of ACL in-tapWeb';

  it('is dropped by the policies that isolate its ends, which the trace names', () => {
    const [web, db] = pods;
    assert.equal(
      because({ acls: [key], pods: [db!] }, DB),
      `dropped: dropped: no policy permits it: ${BY_DB}; ${DENIED}`,
    );
    assert.equal(
      because({ acls: [key], pods: [web!, db!] }, DB),
      `dropped: dropped: no policy permits it for both ends: ${BY_WEB}; ${BY_DB}; ${DENIED}`,
    );
    assert.ok(because({ acls: [key], pods }, OUTSIDE).includes(`it: ${BY_WEB}; denied`));
  });

  it('is dropped by a rule of a policy of the cluster, with its tier', () => {
    const all = { tier: 'NetworkPolicy', peers: ['0.0.0.0/0'] } as const;
    const rule = (
      action: 'Accept' | 'Deny' | 'Pass',
      peers: string[],
      first = 1,
      last = 65_535,
    ) => ({
      tier: 'Admin',
      action,
      text: `${action} of ${peers} ${first}`,
      peers,
      ports: [{ protocol: 'TCP', first, last }],
    });
    const rules = {
      ingress: [],
      egress: [
        rule('Deny', [DB], 81),
        rule('Pass', [DB]),
        rule('Deny', ['0.0.0.0/0']),
        { ...all, action: 'Deny' as const, text: 'denied by shop/out' },
      ],
    };
    const web = { pod: 'shop/web', addresses: [WEB], ingress: [], egress: ['admin'], rules };
    assert.ok(
      because({ acls: [key], pods: [web] }, DB).includes(
        'egress of shop/web is denied by shop/out',
      ),
    );
    assert.ok(
      because({ acls: [key], pods: [web] }, OUTSIDE).includes('is Deny of 0.0.0.0/0 1; denied at'),
    );
    const open = { ...web, rules: { ...rules, egress: [rule('Accept', ['0.0.0.0/0'])] } };
    assert.equal(because({ acls: [key], pods: [open] }, DB), `dropped: dropped: ${DENIED}`);
  });

  it('to a service is dropped by the policies of its backends', () => {
    assert.ok(because({ acls: [key], pods: [pods[1]!] }, CLUSTER_IP).includes(BY_DB));
  });

  it('to a service is dropped by the source ranges of the service, which the trace names', () => {
    const restricted = (...ranges: string[]): NodeIsolation => ({
      acls: [key],
      pods: [pods[1]!],
      services: [
        {
          service: 'shop/lb',
          address: CLUSTER_IP,
          port: 80,
          protocol: 'TCP',
          ranges,
          refusesSockets: true,
        },
      ],
    });
    const by = 'dropped: dropped: loadBalancerSourceRanges of service shop/lb permit';
    assert.equal(
      because(restricted('192.0.2.0/24'), CLUSTER_IP),
      `${by} clients in 192.0.2.0/24 only; ${DENIED}`,
    );
    assert.equal(because(restricted(), CLUSTER_IP), `${by} no client; ${DENIED}`);
    assert.ok(because(restricted(`${WEB}/32`), CLUSTER_IP).includes(BY_DB));
  });

  it('is dropped without a word of policies if the ACL is one of an operator', () => {
    assert.equal(because({ acls: [], pods }, DB), `dropped: dropped: ${DENIED}`);
  });
});

describe('a reply', () => {
  const isolated = { 'in tapWeb': track, 'out tapWeb': denyAny, 'in tapDb': track };

  /** @returns the trace of the reply */
  function exchange(all: Snapshot, packet: Packet, memory: TraceMemory): PacketTrace {
    const there = tracePacket(all, 'web', packet, { memory });
    assert.equal(there.verdict, 'delivered', verdict(there));
    return tracePacket(all, there.device, replyTo(there.packet), { memory });
  }

  it('passes by the session of the packet that it answers, in every protocol', () => {
    const all = cluster(isolated);
    const memory = traceMemory();
    for (const protocol of ['TCP', 'UDP', 'ICMP', 'SCTP'] as const) {
      const packet: Packet = { ...tcp(WEB, DB), protocol };
      const reply = tracePacket(all, 'db', replyTo(packet), { memory: traceMemory() });
      assert.equal(reply.verdict, 'dropped', `${protocol} without a request`);
      const back = exchange(all, packet, memory);
      assert.equal(back.verdict, 'delivered', `${protocol} ${verdict(back)}`);
      assert.match(
        hopsOfAcls(back).at(-1) ?? '',
        /^permitted at the output of tapWeb by a session that rule [02] of ACL in-tapWeb made/,
      );
    }
    assert.equal(exchange(all, tcp(WEB, CLUSTER_IP), memory).verdict, 'delivered');
    assert.equal(exchange(all, tcp(WEB, OUTSIDE), memory).verdict, 'delivered');
  });

  it('makes no session over TCP, so that a stricter ACL cuts the connection', () => {
    const open = cluster({ ...isolated, 'out tapDb': permitAny });
    const memory = traceMemory();
    exchange(open, tcp(WEB, DB), memory);
    const more: Packet = { ...tcp(WEB, DB), tcpFlags: ['ACK'] };
    assert.equal(tracePacket(open, 'web', more, { memory }).verdict, 'delivered');
    const closed = cluster({ ...isolated, 'out tapDb': denyAny });
    assert.equal(tracePacket(closed, 'web', more, { memory }).verdict, 'dropped');
    // if every packet makes a session, the reply's lets the request pass
    const everyPacket = { ...isolated, 'in tapDb': [{ action: 'REFLECT', ip_rule: {} }] as Rules };
    const before = cluster({ ...everyPacket, 'out tapDb': permitAny });
    const trapped = traceMemory();
    exchange(before, tcp(WEB, DB), trapped);
    const after = cluster({ ...everyPacket, 'out tapDb': denyAny });
    assert.equal(tracePacket(after, 'web', more, { memory: trapped }).verdict, 'delivered');
  });

  it('to an echo request makes no session for requests in the other direction', () => {
    const all = cluster({ ...isolated, 'in tapDb': [{ action: 'REFLECT', ip_rule: {} }] });
    const memory = traceMemory();
    const echo: Packet = { source: WEB, destination: DB, protocol: 'ICMP' };
    assert.equal(exchange(all, echo, memory).verdict, 'delivered');
    const other = tracePacket(
      all,
      'db',
      { source: DB, destination: WEB, protocol: 'ICMP' },
      { memory },
    );
    assert.equal(other.verdict, 'dropped');
  });

  it('is not known to another interface, and not to a memory that branched before', () => {
    const all = cluster({ ...isolated, 'out tapDb': denyAny, 'out uplink': permitAny });
    const memory = traceMemory();
    const branch = traceMemory(memory);
    exchange(cluster(isolated), tcp(WEB, DB), branch);
    assert.equal(tracePacket(all, 'web', tcp(WEB, DB), { memory: branch }).verdict, 'dropped');
    const reply = replyTo(tcp(WEB, DB));
    assert.equal(tracePacket(all, 'db', reply, { memory: branch }).verdict, 'delivered');
    assert.equal(tracePacket(all, 'db', reply, { memory }).verdict, 'dropped');
  });
});

describe('a rule', () => {
  const reaches = (rules: Rules, packet: Packet): boolean =>
    tracePacket(cluster({ 'out tapDb': rules }), 'web', packet).verdict === 'delivered';
  const permit = (ip_rule: Rules[number]['ip_rule']): Rules => [{ action: 'PERMIT', ip_rule }];

  it('compares ports, ICMP types, TCP flags and the numbers of other protocols', () => {
    const sctp: Packet = { ...tcp(WEB, DB), protocol: 'SCTP' };
    const echo: Packet = { source: WEB, destination: DB, protocol: 'ICMP' };
    const range = { lower_port: 8080, upper_port: 8090 };
    const ports = permit({ udp: { destination_port_range: range } });
    const udp = (destinationPort: number): Packet => ({
      ...tcp(WEB, DB, destinationPort),
      protocol: 'UDP',
    });
    assert.deepEqual(
      [8079, 8080, 8090, 8091].map((port) => reaches(ports, udp(port))),
      [false, true, true, false],
    );
    assert.ok(!reaches(ports, tcp(WEB, DB, 8080)));
    assert.ok(
      reaches(
        permit({ udp: { source_port_range: { lower_port: 40_000, upper_port: 40_000 } } }),
        udp(1),
      ),
    );
    assert.ok(reaches(permit({ ip: { protocol: 132 } }), sctp));
    assert.ok(!reaches(permit({ ip: { protocol: 132 } }), tcp(WEB, DB)));
    assert.ok(reaches(permit({ icmp: {} }), echo));
    assert.ok(reaches(permit({ icmp: { icmp_type_range: { first: 8, last: 8 } } }), echo));
    assert.ok(!reaches(permit({ icmp: { icmp_type_range: { first: 0, last: 0 } } }), echo));
    const opening = permit({ tcp: { tcp_flags_mask: 0x12, tcp_flags_value: 0x02 } });
    assert.ok(reaches(opening, tcp(WEB, DB)));
    assert.ok(!reaches(opening, { ...tcp(WEB, DB), tcpFlags: ['SYN', 'ACK'] }));
  });

  it('without networks is for IPv4', () => {
    const v6 = (rules: Rules) => {
      const config = acls({ 'out tapDb': rules });
      const all = cluster({});
      const vpp = all.devices.get('vpp')!;
      const route = { table: 1, destination: 'fd00::2/128', preference: 0, key: '' };
      const routes = [
        ...vpp.routes,
        { ...route, action: { kind: 'via', interface: 'tapDb', nextHop: undefined } as const },
      ];
      const devices = new Map(all.devices).set('vpp', { ...vpp, routes, acls: config });
      const web = devices.get('web')!;
      const toAll = { kind: 'via', interface: 'eth0', nextHop: '10.1.1.1' } as const;
      const ownRoute = { table: 0, destination: '::/0', preference: 0, action: toAll, key: '' };
      devices.set('web', { ...web, routes: [...web.routes, ownRoute] });
      const packet: Packet = { ...tcp('fd00::1', 'fd00::2') };
      return verdict(tracePacket({ ...all, devices }, 'web', packet));
    };
    assert.match(v6(permitAny), /no rule of its ACLs matches/);
    assert.doesNotMatch(v6(permit({ ip: { source_network: '::/0' } })), /ACL/);
    assert.match(v6(permit({ ip: { source_network: 'fd01::/16' } })), /no rule/);
  });
});

function permitTo(destination: string): Rules {
  return [{ action: 'PERMIT', ip_rule: { ip: { destination_network: destination } } }];
}
