/** Simulated traffic of two pods behind one simulated VPP. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LiveNetwork } from '#demonstration/live-network.ts';
import { ReportedFlows, type SimulatedConnection } from '#demonstration/reported-flows.ts';
import { Traffic } from '#demonstration/traffic.ts';
import { type Client, trafficClients } from '#demonstration/traffic-ends.ts';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { ConnectionEvent } from '#linux/socket-flows/api.ts';
import { aclModel } from '#models/vpp/acl.ts';
import type { NodeSnapshot } from '#packet-trace/node-document.ts';
import type { Snapshot } from '#packet-trace/snapshot.ts';
import { SimFlowSource } from '#simulator/linux/flow-source.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { device, iface, snapshot, via } from '#test/packet-trace/snapshot-builder.ts';
import { toMac } from '#vpp/binapi/addresses.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';

const SERVER = '10.0.2.1';
const clients: readonly Client[] = [
  {
    address: '10.0.1.1',
    targets: [
      { address: SERVER, port: 80, protocol: 'TCP' },
      { address: SERVER, port: 81, protocol: 'TCP' },
    ],
  },
];

/** Port 80 alone is permitted. */
const { rules } = aclModel.canonical({
  name: 'web',
  rules: [
    {
      action: 'REFLECT',
      ip_rule: { tcp: { destination_port_range: { lower_port: 80, upper_port: 80 } } },
    },
  ],
});

const network: Snapshot = snapshot(
  [
    pod('client', '10.0.1.1', '10.0.1.254'),
    {
      ...device('n/vpp', {
        interfaces: [iface('loop0', ['10.0.1.254/24']), iface('loop1', ['10.0.2.254/24'])],
      }),
      acls: {
        acls: [{ key: '', name: 'web', rules }],
        bindings: [{ interface: 'loop1', input: [], output: ['web'] }],
      },
    },
    pod('server', SERVER, '10.0.2.254'),
  ],
  'client.eth0-n/vpp.loop0',
  'n/vpp.loop1-server.eth0',
);

function pod(name: string, address: string, gateway: string) {
  return device(name, {
    interfaces: [iface('eth0', [`${address}/24`])],
    routes: [via('0.0.0.0/0', 'eth0', gateway)],
    forwards: false,
  });
}

/** Interfaces of VPP by name, after some rounds. */
async function countersAfter(
  rounds: number,
  report: (connection: SimulatedConnection) => void = () => undefined,
) {
  const clock = new ManualClock();
  const [random, log] = [seededRandom(1), silentLogger];
  const vpp = new SimVpp({ clock, random, log });
  const client = new BinapiClient({ connect: vpp.connect(), clock, random, log });
  client.start();
  await client.whenConnected();
  for (const last of [1, 2])
    await client.request('create_loopback', { mac_address: toMac(`02:00:00:00:00:0${last}`) });
  await client.close();
  const live = new LiveNetwork([], clock);
  const traffic = new Traffic({
    network: {
      snapshot: async () => network,
      memory: () => live.memory(),
      vppOf: (name) => (name === 'n/vpp' ? vpp : undefined),
    },
    clients,
    flows: { report },
    clock,
    random: seededRandom(2),
    log,
  });
  for (let round = 0; round < rounds; round++) await traffic.round();
  const interfaces = await vpp.statistics.interfaces();
  return {
    vpp,
    errors: await vpp.statistics.nodeErrors(),
    byName: new Map(interfaces.map((one) => [one.internalName, one])),
  };
}

describe('simulated traffic', () => {
  it('counts packets at the interfaces that they pass, and those that ACLs deny', async () => {
    const { byName, errors } = await countersAfter(3);
    const [inner, outer] = [byName.get('loop0')!, byName.get('loop1')!];
    assert.ok(inner.rxPackets > 0n);
    assert.ok(inner.drops > 0n);
    assert.equal(outer.drops, 0n);
    assert.equal(outer.txPackets, inner.rxPackets - inner.drops);
    assert.equal(outer.rxPackets, inner.txPackets);
    assert.ok(inner.txBytes > inner.rxBytes, 'replies are larger');
    const denied = errors.find(({ reason }) => reason === 'ACL deny packets');
    assert.deepEqual([denied?.node, denied?.count], ['acl-plugin-out-ip4-fa', inner.drops]);
  });

  it('is the same for the same seed, and grows', async () => {
    const [one, same, more] = [
      await countersAfter(2),
      await countersAfter(2),
      await countersAfter(4),
    ];
    assert.deepEqual(one.byName, same.byName);
    assert.ok(more.byName.get('loop0')!.rxPackets > one.byName.get('loop0')!.rxPackets);
  });

  it('asks a target that does not answer rarely', async () => {
    const { byName } = await countersAfter(10);
    const { rxPackets, drops } = byName.get('loop0')!;
    assert.ok(drops > 3n && drops < rxPackets / 100n, `${drops} of ${rxPackets}`);
  });

  it('reports its connections to the nodes of their ends', async () => {
    const connections: SimulatedConnection[] = [];
    await countersAfter(10, (one) => connections.push(one));
    const [answered, silent] = [
      connections.find((one) => one.answered)!,
      connections.find((one) => !one.answered)!,
    ];
    assert.equal(answered.first.destinationPort, 80);
    assert.notEqual(silent.first.destinationPort, 80);
    const [clientNode, serverNode] = [new SimFlowSource(), new SimFlowSource()];
    const flows = new ReportedFlows(
      [
        { name: 'a', flowSource: clientNode },
        { name: 'b', flowSource: serverNode },
      ],
      new ManualClock(),
      seededRandom(1),
    );
    const { packet } = answered.answered!;
    flows.report({ ...answered, client: 'a/ns', answered: { server: 'b/ns', packet } });
    flows.report({ ...silent, client: 'b/host' });
    flows.report({ ...silent, client: 'outside' });
    const read = (source: SimFlowSource): ConnectionEvent[] => {
      const found: ConnectionEvent[] = [];
      source.read((event) => found.push(event), 100);
      return found;
    };
    const [atClient, atServer] = [read(clientNode), read(serverNode)];
    const texts = (events: readonly ConnectionEvent[]) =>
      events.map(({ side, kind, isOfHost }) => `${side} ${kind} ${isOfHost}`);
    assert.deepEqual(texts(atClient), ['client opened false', 'client ended false']);
    assert.deepEqual(texts(atServer), [
      'server opened false',
      'server ended false',
      'client unanswered true',
      'client ended true',
    ]);
    const [sent, received] = [atClient[1], atServer[1]].map(
      (event) => event?.kind === 'ended' && [event.sent, event.received],
    );
    assert.deepEqual(sent, [answered.sent, answered.received]);
    assert.deepEqual(received, [answered.received, answered.sent]);
    assert.deepEqual(atServer[0]?.local, atClient[0]?.remote);
  });

  it('has no counters of a VPP that was started again', async () => {
    const { vpp } = await countersAfter(1);
    vpp.crash();
    assert.equal(vpp.traffic, undefined);
    await vpp.start();
    assert.deepEqual(await vpp.statistics.nodeErrors(), []);
  });
});

describe('the network of the nodes', () => {
  it('is read again after an event, or after a while', async () => {
    const clock = new ManualClock();
    let [reads, events] = [0, 0];
    const empty: NodeSnapshot = { name: 'n', hostAddresses: [], pods: {}, values: {} };
    const vpp = { isRunning: false, traffic: undefined } as unknown as SimVpp;
    const readSnapshot = async () => {
      reads++;
      return empty;
    };
    const live = new LiveNetwork(
      [{ name: 'n', vpp, eventCount: () => events, readSnapshot }],
      clock,
    );
    await live.snapshot();
    await live.snapshot();
    assert.equal(reads, 1);
    events = 1;
    await live.snapshot();
    assert.equal(reads, 2);
    await clock.advance(60_000);
    await live.snapshot();
    assert.equal(reads, 3);
  });
});

describe('the clients of the traffic', () => {
  it('are the pods with an address, and customers of node ports', () => {
    const kind = 'Pod' as const;
    const pods = [
      { kind, metadata: { name: 'a' }, status: { podIP: '10.1.1.2' } },
      { kind, metadata: { name: 'starting' } },
    ];
    const ports = [
      { port: 80, nodePort: 30_080 },
      { port: 53, protocol: 'UDP' as const },
    ];
    const service = (clusterIP: string) => ({
      kind: 'Service' as const,
      metadata: { name: 's' },
      spec: { clusterIP, ports },
    });
    const found = trafficClients(pods, [service('10.96.0.9'), service('None')], ['192.168.16.1']);
    assert.deepEqual(
      found.map(({ address, targets }) =>
        [address, ...targets.map((one) => `${one.address}:${one.port}/${one.protocol}`)].join(' '),
      ),
      [
        '10.1.1.2 10.96.0.9:80/TCP 10.96.0.9:53/UDP 203.0.113.10:443/TCP',
        '198.51.100.7 192.168.16.1:30080/TCP 192.168.16.1:30080/TCP',
      ],
    );
  });
});
