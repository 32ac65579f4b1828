/**
 * Nodes with pods, a machine outside, and the ACLs that were rendered for them, as a snapshot through which packets
 * are traced. Nodes are connected by VXLAN; packets of pods to other machines leave by a gate, as on a real node.
 */

import type { AclConfig } from '#packet-trace/acl-config.ts';
import { traceMemory } from '#packet-trace/memory.ts';
import { type Packet, replyTo } from '#packet-trace/packet.ts';
import type { Device, Interface, Neighbor, Route, Snapshot, Wire } from '#packet-trace/snapshot.ts';
import { type PacketTrace, tracePacket } from '#packet-trace/tracer.ts';
import type { PolicyNode } from '#plugins/policy/rendered-state.ts';

export interface NetworkPod {
  /** Of its attachment. */
  readonly id: string;
  /** Without prefix length. */
  readonly addresses: readonly string[];
  /** Name of its node. */
  readonly node: string;
}

/** An end of a connection. */
export interface NetworkEnd {
  /** ID of a pod, `host <node>` or `outside`. */
  readonly device: string;
  readonly address: string;
}

export interface NetworkPort {
  readonly protocol: 'TCP' | 'UDP' | 'SCTP' | 'ICMP';
  readonly port: number;
}

const POD_TABLE = 1;
/** Of the gate, through which pass all packets of pods to and from what is not a pod. */
const GATE_TABLE = 9;
const VNI = 10;
const CLIENT_PORT = 40_000;
const OUTSIDE = 'outside';
/** Of the pods' default gateway. */
const gateways = { 4: '169.254.1.1', 6: 'fe80::1' } as const;
const gates = { 4: '169.254.77.2', 6: 'fd00:77::2' } as const;
const GATE_MAC = '02:00:00:00:00:77';
const POD_MAC = '02:00:00:00:00:01';

/** Addresses of the network of nodes, which no test gives to pods. That of pods may be any. */
const addressOf = {
  uplink: (node: number) => `198.18.0.${node}`,
  bvi: (node: number) => `198.18.1.${node}`,
  vpp: (node: number) => `198.18.2.${2 * node}`,
  host: (node: number) => `198.18.2.${2 * node + 1}`,
  natLoopback: (node: number) => `198.18.3.${node}`,
  outside: '198.18.0.200',
} as const;
const bviV6 = (node: number) => `fd00:18::${node}`;
const bviMac = (node: number) => `02:00:00:00:01:0${node}`;

export class PolicyNetwork {
  readonly #nodes: readonly string[];
  readonly #pods: readonly NetworkPod[];
  /** Without ACLs. */
  readonly #snapshot: Snapshot;

  /** @param outside addresses of the machine outside */
  constructor(
    nodes: readonly string[],
    pods: readonly NetworkPod[],
    outside: readonly string[] = [],
  ) {
    this.#nodes = nodes;
    this.#pods = pods;
    const devices = [
      ...nodes.flatMap((name, at) => [this.#vpp(name, at + 1), this.#host(name, at + 1)]),
      ...pods.map(podDevice),
      this.#outside(outside),
    ];
    this.#snapshot = {
      devices: new Map(devices.map((one) => [one.name, one])),
      wires: this.#wires(),
    };
  }

  static interfaceOf(id: string): string {
    return `tap-${id}`;
  }

  /** The node as renderers see it. */
  policyNode(name: string): PolicyNode {
    const node = this.#nodes.indexOf(name) + 1;
    return {
      addresses: [
        addressOf.uplink(node),
        addressOf.bvi(node),
        bviV6(node),
        addressOf.vpp(node),
        addressOf.host(node),
      ],
      natLoopbacks: [addressOf.natLoopback(node)],
      podSubnets: [`10.1.${node}.0/24`, `fd00:${node}::/64`],
      interfaces: ['gate', 'bvi'],
      nics: ['uplink'],
      hostLink: 'host-link',
    };
  }

  hostOf(node: string): NetworkEnd {
    return { device: `host ${node}`, address: addressOf.host(this.#nodes.indexOf(node) + 1) };
  }

  /** @param acls by node */
  withAcls(acls: ReadonlyMap<string, AclConfig | undefined>): Snapshot {
    const devices = new Map(this.#snapshot.devices);
    for (const [node, config] of acls)
      devices.set(node, { ...(devices.get(node) as Device), acls: config });
    return { ...this.#snapshot, devices };
  }

  #vpp(name: string, node: number): Device {
    const local = this.#pods.filter((pod) => pod.node === name);
    const others = this.#nodes.flatMap((other, at) => (other === name ? [] : [at + 1]));
    const interfaces: Interface[] = [
      ...local.map((pod) =>
        port(PolicyNetwork.interfaceOf(pod.id), [`${gateways[4]}/32`], {
          table: POD_TABLE,
          mac: POD_MAC,
        }),
      ),
      port('gate', ['169.254.77.1/30', 'fd00:77::1/126'], {
        table: GATE_TABLE,
        mac: GATE_MAC,
        isLoopback: true,
      }),
      port('bvi', [`${addressOf.bvi(node)}/24`, `${bviV6(node)}/64`], {
        table: POD_TABLE,
        mac: bviMac(node),
        isLoopback: true,
      }),
      port('host-link', [`${addressOf.vpp(node)}/31`]),
      port('uplink', [`${addressOf.uplink(node)}/24`]),
      ...others.map((other) =>
        port(`vxlan${other}`, [], {
          isLoopback: true,
          tunnel: {
            source: addressOf.uplink(node),
            destination: addressOf.uplink(other),
            vni: VNI,
            table: 0,
          },
        }),
      ),
    ];
    const routes = this.#pods.flatMap((pod) =>
      pod.addresses.flatMap((address) => {
        const at = this.#nodes.indexOf(pod.node) + 1;
        const isV6 = address.includes(':');
        const remote = isV6 ? bviV6(at) : addressOf.bvi(at);
        return [
          pod.node === name
            ? via(POD_TABLE, address, PolicyNetwork.interfaceOf(pod.id))
            : via(POD_TABLE, address, 'bvi', remote),
          via(0, address, 'gate', isV6 ? gates[6] : gates[4]),
          toTable(GATE_TABLE, address, POD_TABLE),
        ];
      }),
    );
    return {
      ...device(name, interfaces),
      routes: [
        ...routes,
        via(POD_TABLE, '0.0.0.0/0', 'gate', gates[4]),
        via(POD_TABLE, '::/0', 'gate', gates[6]),
        via(0, '0.0.0.0/0', 'uplink', addressOf.outside),
        via(0, '::/0', 'uplink', addressOf.outside),
        toTable(GATE_TABLE, '0.0.0.0/0', 0),
        toTable(GATE_TABLE, '::/0', 0),
      ],
      neighbors: [
        ...Object.values(gates).map((address) => neighbor('gate', address, GATE_MAC)),
        ...others.flatMap((other) => [
          neighbor('bvi', addressOf.bvi(other), bviMac(other)),
          neighbor('bvi', bviV6(other), bviMac(other)),
        ]),
      ],
      bridges: [
        {
          name: 'vxlan',
          members: [
            { interface: 'bvi', group: 0 },
            ...others.map((other) => ({ interface: `vxlan${other}`, group: 1 })),
          ],
          routed: 'bvi',
          floods: false,
          entries: others.map((other) => ({
            mac: bviMac(other),
            interface: `vxlan${other}`,
            key: '',
          })),
          key: '',
        },
      ],
    };
  }

  #host(name: string, node: number): Device {
    return {
      ...device(`host ${name}`, [port('eth0', [`${addressOf.host(node)}/31`])]),
      routes: [via(0, '0.0.0.0/0', 'eth0', addressOf.vpp(node))],
      forwards: false,
    };
  }

  #outside(addresses: readonly string[]): Device {
    const routes = this.#pods.flatMap((pod) =>
      pod.addresses.map((address) =>
        via(0, address, 'eth0', addressOf.uplink(this.#nodes.indexOf(pod.node) + 1)),
      ),
    );
    return {
      ...device(OUTSIDE, [port('eth0', [`${addressOf.outside}/24`])]),
      routes,
      otherAddresses: addresses,
      forwards: false,
    };
  }

  #wires(): Wire[] {
    const wire = (...ports: readonly (readonly [device: string, name: string])[]): Wire => ({
      ports: ports.map(([name, out]) => ({ device: name, interface: out })),
      isOpen: false,
    });
    return [
      ...this.#pods.map(({ id, node }) =>
        wire([node, PolicyNetwork.interfaceOf(id)], [id, 'eth0']),
      ),
      ...this.#nodes.map((node) => wire([node, 'host-link'], [`host ${node}`, 'eth0'])),
      wire([OUTSIDE, 'eth0'], ...this.#nodes.map((node) => [node, 'uplink'] as const)),
    ];
  }
}

/**
 * Whether a connection is opened and answered.
 * @throws Error if a packet is lost for another reason than an ACL, or a reply is lost
 */
export function isReached(
  snapshot: Snapshot,
  from: NetworkEnd,
  to: NetworkEnd,
  { protocol, port: destinationPort }: NetworkPort,
): boolean {
  const memory = traceMemory();
  const packet: Packet = {
    source: from.address,
    destination: to.address,
    protocol,
    sourcePort: CLIENT_PORT,
    destinationPort,
  };
  const there = tracePacket(snapshot, from.device, packet, { memory });
  if (isDenied(there)) return false;
  const back = isAt(there, to)
    ? tracePacket(snapshot, to.device, replyTo(packet), { memory })
    : there;
  if (isAt(there, to) && isAt(back, from)) return true;
  const hops = back.hops.map((hop) => `${hop.device}: ${hop.description}`).join('\n');
  throw new Error(
    `${back === there ? 'the packet' : 'the reply'} of ${from.device} to ${to.device} is lost:\n${hops}`,
  );
}

function isDenied({ verdict, hops }: PacketTrace): boolean {
  return verdict === 'dropped' && /denied at/.test(hops.at(-1)?.description ?? '');
}

function isAt({ verdict, device: name }: PacketTrace, end: NetworkEnd): boolean {
  return verdict === 'delivered' && name === end.device;
}

function podDevice({ id, addresses }: NetworkPod): Device {
  const own = addresses.map((address) =>
    address.includes(':') ? `${address}/128` : `${address}/32`,
  );
  return {
    ...device(id, [port('eth0', own)]),
    routes: [via(0, '0.0.0.0/0', 'eth0', gateways[4]), via(0, '::/0', 'eth0', gateways[6])],
    neighbors: Object.values(gateways).map((address) => neighbor('eth0', address, POD_MAC)),
    forwards: false,
  };
}

function device(name: string, interfaces: readonly Interface[]): Device {
  return {
    name,
    forwards: true,
    interfaces: new Map(interfaces.map((one) => [one.name, one])),
    routes: [],
    neighbors: [],
    routesToNeighbors: false,
    bridges: [],
    otherAddresses: [],
    hasOtherRoutes: false,
  };
}

function port(
  name: string,
  addresses: readonly string[],
  change: Partial<Interface> = {},
): Interface {
  return {
    name,
    addresses,
    enabled: true,
    up: true,
    table: 0,
    mac: '',
    tunnel: undefined,
    isLoopback: false,
    key: '',
    ...change,
  };
}

function via(table: number, destination: string, out: string, nextHop?: string): Route {
  const action = { kind: 'via', interface: out, nextHop } as const;
  return { table, destination, preference: 0, action, key: '' };
}

function toTable(table: number, destination: string, other: number): Route {
  return { ...via(table, destination, ''), action: { kind: 'table', table: other } };
}

function neighbor(out: string, address: string, mac: string): Neighbor {
  return { interface: out, address, mac, key: '' };
}
