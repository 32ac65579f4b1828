/** Names and MAC addresses of all interfaces, as in the original. */
import { fnv1a32 } from '#models/fnv.ts';
import { formatMac } from '#models/ip.ts';
import type { Slot } from '#plugins/controller/api/ports/wireguard-keys.ts';
import type { AdoptedLink, AttachmentId, ContainerInterface } from '#plugins/podmanager/api.ts';
import type { PodInterfaceNames } from './api.ts';

/** Limits of a tag in VPP and of an interface name in the kernel. */
const MAX_LOGICAL_NAME_LENGTH = 63;
const MAX_HOST_NAME_LENGTH = 15;

export const EDGE_LINK = 'edgeLink';
export const LOOPBACK_NIC = 'loopbackNIC';
export const NAT_LINK = 'natLink';
export const POD_GATEWAY_LOOPBACK = 'podGwLoop';
export const VRF_LINK = 'vrfLink';
export const VXLAN_BVI = 'vxlanBVI';
export const VXLAN_BRIDGE_DOMAIN = 'vxlanBD';
const TUNNEL_PREFIX = 'vxlan-default-';
const WIREGUARD_PREFIX = 'wireguard';

/** The link between VPP and the host. */
export const hostTap = { vpp: 'tap-vpp2', linux: 'tap-vpp1', linuxHost: 'vpp1' } as const;
export const hostVeth = {
  vpp: 'afpacket-vpp2',
  linux: 'veth-vpp1',
  linuxHost: 'vpp1',
  peer: 'veth-vpp2',
  peerHost: 'vpp2',
} as const;

/** The tunnel of the default network to another node. */
export function vxlanTunnel(nodeId: number): string {
  return `${TUNNEL_PREFIX}${nodeId}`;
}

/** The interface of the sessions that the keys of a slot make. */
export function wireguardInterface(slot: Slot): string {
  return `${WIREGUARD_PREFIX}${slot}`;
}

/** ID of the node at the other end of a tunnel; undefined for the names of other interfaces. */
export function tunnelNodeId(logicalName: string): number | undefined {
  const id = logicalName.startsWith(TUNNEL_PREFIX) ? logicalName.slice(TUNNEL_PREFIX.length) : '';
  return /^[1-9]\d*$/.test(id) ? Number(id) : undefined;
}

/** MAC of the VPP side of the link to the host. */
export function hostLinkMac(nodeId: number): string {
  return nodeMac(0x34, 0x3c, nodeId);
}

/** MAC of the host side of the link; not with STN. */
export function hostSideMac(nodeId: number): string {
  return nodeMac(0x36, 0x3c, nodeId);
}

/** MAC of the BVI of a node in the VXLAN overlay. */
export function bviMac(nodeId: number): string {
  return nodeMac(0x12, 0x2b, nodeId);
}

/** MAC of the link between the VRFs. */
export function vrfLinkMac(nodeId: number): string {
  return nodeMac(0x38, 0x3c, nodeId);
}

/** MAC of the link for replies to NAT44. */
export function natLinkMac(nodeId: number): string {
  return nodeMac(0x3a, 0x3c, nodeId);
}

/** MAC of the link at which source NAT translates. */
export function edgeLinkMac(nodeId: number): string {
  return nodeMac(0x3c, 0x3c, nodeId);
}

/** MAC of the link for replies to cnat. */
export function cnatLinkMac(nodeId: number): string {
  return nodeMac(0x3e, 0x3c, nodeId);
}

/** Prefix of the name of a VPP interface that is bound to a link of the kernel. */
const BOUND_PREFIX = 'host-';

/** The link of an interface such as `host-eth1`; undefined for NICs that VPP drives itself. */
export function boundLink(interfaceName: string): string | undefined {
  return interfaceName.startsWith(BOUND_PREFIX)
    ? interfaceName.slice(BOUND_PREFIX.length)
    : undefined;
}

/**
 * MAC of an interface that is bound to a link. It differs from that of the link, so that the kernel
 * does not accept its packets; it is stable, so that neighbors reach it after a restart of VPP.
 */
export function nicMac(nodeId: number, interfaceName: string): string {
  return podMac(fnv1a32(`${nodeId}/${interfaceName}`));
}

function nodeMac(first: number, second: number, nodeId: number): string {
  const bytes = new Uint8Array(6);
  bytes.set([first, second]);
  new DataView(bytes.buffer).setUint32(2, nodeId);
  return formatMac(bytes);
}

export interface PodLinkNames extends PodInterfaceNames {
  /** Name of the pod's interface in its namespace. */
  readonly linuxHost: string;
  /** With VETH: the end that AF_PACKET is bound to, and its name in the host. */
  readonly peer: string;
  readonly peerHost: string;
}

/** The interface of every pod; its name is not part of the logical names. */
export const MAIN_INTERFACE = 'eth0';

/** Prefixes of the logical names of a pod's link; a container ID follows. */
export const linkPrefixes = {
  vppTap: 'vpp-tap-',
  linuxTap: 'linux-tap-',
  podVeth: 'veth1-',
  hostVeth: 'veth2-',
  afPacket: 'afpacket',
} as const;

export function podLinkNames(link: ContainerInterface, useTap: boolean): PodLinkNames {
  const { containerId, interfaceName } = link;
  const id = interfaceName === MAIN_INTERFACE ? containerId : `${interfaceName}-${containerId}`;
  const prefix = linkPrefixes;
  const veth2 = logical(`${prefix.hostVeth}${id}`);
  return {
    vpp: logical(useTap ? `${prefix.vppTap}${id}` : `${prefix.afPacket}${veth2}`),
    linux: logical(`${useTap ? prefix.linuxTap : prefix.podVeth}${id}`),
    loopback: logical(`linux-loop-${containerId}`),
    linuxHost: interfaceName.slice(0, MAX_HOST_NAME_LENGTH),
    peer: veth2,
    peerHost: id.slice(0, MAX_HOST_NAME_LENGTH),
  };
}

/** Above that of the main interface, which the kernel sets to 1024 for routes of IPv6. */
const MIN_SECONDARY_METRIC = 2048;
const SECONDARY_METRICS = 0x10_0000;

/**
 * Metric of the routes of an interface in its pod. The kernel has one route per destination and metric: with
 * equal ones, the routes of a second interface would replace those of the main one. The metric depends on
 * nothing but the name, so that no interface changes when another one is added or deleted.
 */
export function routeMetric(interfaceName: string): number {
  if (interfaceName === MAIN_INTERFACE) return 0;
  return MIN_SECONDARY_METRIC + (fnv1a32(interfaceName) % SECONDARY_METRICS);
}

/**
 * MACs of both ends of a pod's link: a hash of the container and its complement. Those of an adopted link
 * were read, because its container ID may be incomplete.
 */
export function podMacs(
  link: ContainerInterface & { readonly adopted?: AdoptedLink | undefined },
): AdoptedLink['macs'] {
  if (link.adopted) return link.adopted.macs;
  const custom = link.interfaceName === MAIN_INTERFACE ? '' : link.interfaceName;
  const hash = fnv1a32(`${link.containerId}/${custom}`);
  return { linux: podMac(hash), vpp: podMac(~hash >>> 0) };
}

function podMac(hash: number): string {
  const bytes = new Uint8Array(6);
  bytes.set([0x02, 0xfe]);
  new DataView(bytes.buffer).setUint32(2, hash, true);
  return formatMac(bytes);
}

/** A logical name, cut to the length that VPP stores. */
export function logical(name: string): string {
  return name.slice(0, MAX_LOGICAL_NAME_LENGTH);
}

/** Whether a name may lack its end. */
export function mayBeCut(logicalName: string): boolean {
  return logicalName.length === MAX_LOGICAL_NAME_LENGTH;
}

/** Names of the groups of desired values. */
export const valueGroup = {
  base: 'base',
  overlay: 'overlay',
  node: (name: string): string => `node/${name}`,
  pod: (attachment: AttachmentId): string => `pod/${attachment}`,
  bandwidth: (attachment: AttachmentId): string => `bandwidth/${attachment}`,
};
