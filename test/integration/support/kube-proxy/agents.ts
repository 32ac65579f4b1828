/** The answers of two agents on the same objects: packet traces through what their plugins make of the records. */
import type { KubeEndpointSlice } from '#kubernetes/reflector/objects/endpoints.ts';
import type { KubeService } from '#kubernetes/reflector/objects/service.ts';
import { traceMemory } from '#packet-trace/memory.ts';
import type { Snapshot } from '#packet-trace/snapshot.ts';
import { iface, via } from '#test/packet-trace/snapshot-builder.ts';
import { recordsOf } from '#test/plugins/service/service-objects.ts';
import { NODES, TracedCluster } from '#test/plugins/service/traced-cluster.ts';
import { type Network, possibleAnswers, type Station } from '#test/services/simulated/traffic.ts';
import type { SocketValues } from './kernel-sockets.ts';
import { type AnswerText, answerText, type Cell, clients } from './matrix.ts';
import { machines, zones } from './services.ts';

/** Machines by name, with their devices in the snapshot. */
const stations: readonly Station[] = [
  ...Object.entries(machines).map(([name, { address, node, ports }]) => ({
    name,
    device: name === node ? `${node}/host` : `${node}//run/netns/${name}`,
    address,
    ports: new Set<number>(ports),
  })),
  {
    name: 'outside',
    device: 'outside by node-a',
    address: '192.168.16.200',
    ports: new Set<number>(),
  },
];

/** Of a host, by which its agent lets clients in. */
const HOST_NIC = 'eth0';
/** Of the machine outside, in the same network. */
const OUTSIDE_NIC = 'eth1';

export class TracedAgents {
  readonly #network: Network;
  /** Values for the kernel of node-a. */
  readonly sockets: SocketValues;

  static async start(
    services: readonly KubeService[],
    slices: readonly KubeEndpointSlice[],
  ): Promise<TracedAgents> {
    const cluster = await TracedCluster.start(true, true);
    for (const node of NODES) await cluster.step({ node, zone: zones[node] });
    await cluster.step({ exempt: 'a2' });
    for (const [resource, records] of recordsOf(services, slices))
      for (const [key, value] of records)
        await cluster.publish(resource as 'service' | 'endpoints', key, value);
    return new TracedAgents(cluster);
  }

  private constructor(cluster: TracedCluster) {
    const snapshot = withHostNetwork(cluster.snapshot());
    this.sockets = {
      services: cluster.sockets('node-a'),
      nodes: cluster.nodeAddresses('node-a'),
    };
    this.#network = { snapshot, stations, memory: traceMemory() };
  }

  /** Whichever backend is chosen. */
  answer({ client, question: { target } }: Cell): AnswerText {
    const station = stations.find(({ name }) => name === clients[client])!;
    return answerText(possibleAnswers(this.#network, station, target));
  }
}

/** The network of the hosts' own NICs, where the machine outside is, too. */
function withHostNetwork(snapshot: Snapshot): Snapshot {
  const devices = new Map(snapshot.devices);
  const ends = [
    ['node-a/host', HOST_NIC, machines['node-a'].address],
    ['node-b/host', HOST_NIC, machines['node-b'].address],
    ['outside by node-a', OUTSIDE_NIC, '172.16.0.200'],
  ] as const;
  for (const [name, nic, address] of ends) {
    const device = devices.get(name)!;
    devices.set(name, {
      ...device,
      interfaces: new Map([...device.interfaces, [nic, iface(nic, [`${address}/24`])]]),
      routes: [...device.routes, via('172.16.0.0/24', nic)],
    });
  }
  const ports = ends.map(([device, nic]) => ({ device, interface: nic }));
  return { devices, wires: [...snapshot.wires, { ports, isOpen: false }] };
}
