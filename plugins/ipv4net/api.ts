/** Interfaces and addresses of this node for other plugins. Interface names are logical names. */
import type { BandwidthDirection } from '#kubernetes/models/bandwidth-annotations.ts';
import type { IpFamily } from '#models/ip.ts';
import { defineEvent, type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type { HostLink } from '#plugins/controller/api/ports/host.ts';
import type { KeyReplacement, Slot } from '#plugins/controller/api/ports/wireguard-keys.ts';
import type { Node, NodeProblems, OwnNetwork } from '#plugins/nodesync/api.ts';
import type { Attachment, AttachmentId } from '#plugins/podmanager/api.ts';

export interface PodInterfaceNames {
  /** In VPP: a TAP or an AF_PACKET interface. */
  readonly vpp: string;
  /** In the pod's namespace. */
  readonly linux: string;
  readonly loopback: string;
}

/**
 * ID of the table of the link between the VRFs: that of a packet that left the pods' VRF, where it leaves by
 * the uplink.
 */
export const VRF_LINK_TABLE = 0xffff_fffd;

/** ID of the table of the link for replies to NAT44. */
export const NAT_LINK_TABLE = 0xffff_fffc;

/** ID of the table in which the sources of replies are looked up: those of the host go back by it. */
export const HOST_REPLIES_TABLE = 0xffff_fffb;

/** ID of the table in which the sources of what leaves the pods are looked up, while replies to clients at the host leave them. */
export const POD_REPLIES_TABLE = 0xffff_fffa;

/** The only table in which cnat translates. */
export const CNAT_TABLE = 0;

/** The next hop of routes over the link for replies to cnat. */
export const cnatLinkHop = {
  next_hop_addr: 'fdfe:feed:c0de::6',
  outgoing_interface: 'cnatLink',
} as const;

/** The interface through which traffic leaves the cluster with the address of the node as its source. */
export interface Uplink {
  readonly interface: string;
  /** Without prefix length. */
  readonly address: string;
  /** The link that leads to it, at which sources are translated; undefined: at the interface itself. */
  readonly edgeLink: string | undefined;
}

/** How packets to another node are protected, while this node encrypts. */
export const nodeEncryptions = [
  'encrypted',
  /** Both have keys, and no session: nothing is sent. */
  'no-session',
  /** For want of a key that can be used: nothing is sent. */
  'isolated',
  'clear-text',
  /** For another reason: it has no address, or one of another node. */
  'unreachable',
] as const;
export type NodeEncryption = (typeof nodeEncryptions)[number];

/** The way to another node. */
export interface NodeLink {
  /** Its address on the network of the nodes, without prefix length; undefined: it cannot be reached. */
  readonly address: string | undefined;
  /** Logical name of the tunnel of VXLAN; undefined: there is none. */
  readonly tunnel: string | undefined;
  /** Logical names of the interfaces that encrypt packets to it; empty: nothing does. */
  readonly encryptedBy: readonly string[];
  /** undefined: this node encrypts nothing. */
  readonly encryption: NodeEncryption | undefined;
  /** Why it cannot be reached; undefined: it can. */
  readonly whyUnreachable: string | undefined;
}

export interface OwnSlotKey {
  readonly slot: Slot;
  readonly publicKey: string;
  /** Packets are not to be encrypted for it: it is being replaced. */
  readonly isReplaced: boolean;
}

/** A key of another node by which this one has or tries to have a session. */
export interface Peer {
  readonly slot: Slot;
  readonly publicKey: string;
}

export interface PodBandwidth {
  /** Bits a second, seen from the pod; a direction without a limit is absent. */
  readonly limits: Readonly<Partial<Record<BandwidthDirection, number>>>;
  /** Annotations that are not applied, and why. */
  readonly problems: readonly string[];
}

export interface Ipv4NetApi {
  /** Features in use that are not supported yet, each with the number of objects. */
  unsupportedFeatures(): readonly string[];
  /** Why what leaves the cluster in IPv6 keeps the addresses of pods although it should not; undefined: it does as configured. */
  natProblem(): string | undefined;
  /** Why pods have a smaller MTU than the configured one; undefined: they have it. */
  mtuProblem(): string | undefined;
  /** Addresses of this node on the main interface as CIDRs, that of the tunnels first. */
  nodeAddresses(): readonly string[];
  /** At most one of each family, without prefix length: the configured ones, or with DHCP in IPv4 that of the lease. */
  defaultGateways(): readonly string[];
  /** Addresses of the links of the host as of the last resync, without prefix length. */
  hostAddresses(): readonly string[];
  /** Links with these addresses, by their names in the kernel. */
  hostLinks(): readonly string[];
  /**
   * The addresses that these links of the host have now; undefined if they are those above, on the same links, and before
   * the first resync.
   */
  otherHostAddresses(links: readonly HostLink[]): readonly string[] | undefined;
  /** The link of the host to VPP, by its name in the kernel, and VPP's IPv4 address there; undefined: it has none, or it is unknown. */
  hostGateway(): { readonly link: string; readonly gateway: string } | undefined;
  /**
   * Both IPv4 addresses of the link between VPP and the host, without prefix length; undefined: there are none, the host has none
   * of its own there, as with STN, or they are not in VRF 0.
   */
  hostLinkEnds(): { readonly host: string; readonly vpp: string } | undefined;
  /** The main NIC, or the loopback that replaces it. */
  mainInterface(): string;
  /** The main interface if its address is from DHCP; undefined otherwise. */
  leasedInterface(): string | undefined;
  otherInterfaces(): readonly string[];
  /** The VPP side of the link between VPP and the host. */
  hostInterconnect(): string;
  /** undefined: no traffic leaves the cluster with another source. */
  uplink(family: IpFamily): Uplink | undefined;
  /** Packets between pods and the networks outside pass it, before source NAT. */
  vrfLink(): string;
  /** Replies whose destination NAT44 replaces pass it, and packets of pods to the host of this node. */
  natLink(): string;
  /** The routed interfaces by which packets between pods of two nodes come; empty: there is no overlay. */
  overlayInterfaces(): readonly string[];
  /** Ports of UDP at which the overlay receives. */
  overlayPorts(): readonly { readonly port: number; readonly user: string }[];
  /** Why this node cannot encrypt; undefined: it can, or need not. */
  encryptionProblem(): string | undefined;
  /** The keys of this node with which it is configured; undefined: it encrypts nothing, or is not configured yet. */
  wiredKeys(): readonly OwnSlotKey[] | undefined;
  /** The peers of each other node with which this one has or tries to have sessions. */
  peers(): readonly (readonly Peer[])[];
  /** Names for a wired attachment; undefined for any other. */
  podInterfaces(attachment: AttachmentId): PodInterfaceNames | undefined;
  /** Keys of all values of an attachment; empty if it is not wired. */
  podKeys(attachment: AttachmentId): readonly string[];
  /** Limits of the bandwidth of an attachment; undefined: its pod asks for none. */
  podBandwidth(attachment: AttachmentId): PodBandwidth | undefined;
  /** Annotations of pods for their bandwidth that are not applied, in sentences for operators. */
  bandwidthProblems(): readonly string[];
  /** The attachment of a VPP interface; undefined if it is not the interface of a pod. */
  podByInterface(vppInterface: string): Attachment | undefined;
  /** How another node is reached; undefined before the first resync. */
  nodeLink(node: Node): NodeLink | undefined;
  /** Addresses and subnets that this node uses itself, as of the last resync. */
  ownNetwork(): OwnNetwork;
  /** Addresses of the host of another node to which routes lead, without prefix length. */
  routedAddresses(node: Node): readonly string[];
  /** Other nodes about whose addresses an update has decided again, for handlers that follow this one. */
  nodesChangedBy(event: Event): Iterable<string>;
  /** Parts of the records of nodes that are not used, by their names. */
  nodeProblems(): Pick<NodeProblems, 'of' | 'nodes'>;
  /** Keys of all values for another node; empty if it cannot be reached. */
  nodeKeys(nodeName: string): readonly string[];
  /** Name of the node at the other end of a tunnel; undefined if it is not the tunnel to a node. */
  nodeByTunnel(vppInterface: string): string | undefined;
}

export interface NodeIpChangePayload {
  /** Current leased addresses of this node on the main interface, as CIDRs; empty: it has none any more. */
  readonly addresses: readonly string[];
  /** That of the lease, without prefix length; empty if there is none. */
  readonly defaultGateway: string;
}

/** DHCP has changed the address of this node. Too much derives from it for an incremental update. */
export const NodeIpChange = defineEvent<NodeIpChangePayload>({
  id: 'node-ip-change',
  blocking: false,
  name: 'Node IP Change',
  describe: ({ addresses, defaultGateway }) =>
    `Node IP Change\n* addresses: ${addresses.join(', ') || '<none>'}` +
    `\n* default gateway: ${defaultGateway || '<none>'}`,
  method: EventMethod.UpstreamResync,
});

export interface HostAddressChangePayload {
  /** Current addresses of the host in the families of the pods, without prefix length. */
  readonly addresses: readonly string[];
}

/** The host has other addresses than before. Routes, policies and node ports derive from them. */
export const HostAddressChange = defineEvent<HostAddressChangePayload>({
  id: 'host-address-change',
  blocking: false,
  name: 'Host Address Change',
  describe: ({ addresses }) =>
    `Host Address Change\n* addresses: ${addresses.join(', ') || '<none>'}`,
  method: EventMethod.UpstreamResync,
});

export interface SessionChangePayload {
  /** Keys of other nodes whose sessions were established. */
  readonly established: readonly string[];
  readonly ended: readonly string[];
}

/** Sessions of WireGuard were established, or have ended: routes lead only to nodes with a session. */
export const SessionChange = defineEvent<SessionChangePayload>({
  id: 'wireguard-session-change',
  blocking: false,
  name: 'WireGuard Session Change',
  describe: ({ established, ended }) =>
    `WireGuard Session Change\n* established: ${established.length}, ended: ${ended.length}`,
  method: EventMethod.Update,
});

export interface KeyChangePayload {
  /** The step that was taken; absent: the replacement has ended. */
  readonly replacement?: KeyReplacement;
}

/** This node has another key of WireGuard, or other nodes are to use another session. */
export const KeyChange = defineEvent<KeyChangePayload>({
  id: 'wireguard-key-change',
  blocking: false,
  name: 'WireGuard Key Change',
  describe: ({ replacement }) => `WireGuard Key Change\n* ${describeReplacement(replacement)}`,
  method: EventMethod.UpstreamResync,
});

function describeReplacement(replacement: KeyReplacement | undefined): string {
  if (replacement === undefined) return 'no key is being replaced';
  const { slot, isNew } = replacement;
  return `session ${slot}: ${isNew ? 'the key is new' : 'packets take the other one'}`;
}
