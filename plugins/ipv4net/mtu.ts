/** MTU of the links to pods and host where none is configured: what fits through the network. */
import type { HostLink } from '#plugins/controller/api/ports/host.ts';
import type { VppInterfaceInfo } from '#plugins/controller/api/ports/vpp.ts';
import { boundLink } from './names.ts';
import { withoutPrefixLength } from './node-input.ts';

/** Inner Ethernet, VXLAN and UDP; the outer IP header comes on top. */
const VXLAN_BYTES = 14 + 8 + 8;
const outerBytes = { 4: 20, 6: 40 } as const;
/** What every Ethernet carries. */
const ETHERNET_MTU = 1500;
/** Less than this no link with IPv6 may have. */
const MIN_MTU = 1280;

export interface Underlay {
  /** Name of the main interface; undefined: there is no NIC. */
  readonly nic: string | undefined;
  readonly vppInterfaces: readonly VppInterfaceInfo[];
  /** Links of the host's own, and the one that VPP may be bound to. */
  readonly hostLinks: readonly HostLink[];
  /** Addresses under which Kubernetes knows the node, plain. */
  readonly managementAddresses: readonly string[];
}

/**
 * The largest packet that the network between the nodes carries; undefined when there is no NIC.
 * Of a link of the kernel its MTU is what somebody has set for that network. Of a NIC that VPP
 * drives VPP knows no more than what the device can do, 9000 as a rule; so what the host has set for
 * the link under whose address Kubernetes knows it counts as well, and where there is none, what
 * every Ethernet carries.
 */
export function underlayMtu(underlay: Underlay): number | undefined {
  const { nic, vppInterfaces, hostLinks, managementAddresses } = underlay;
  if (nic === undefined) return undefined;
  const bound = boundLink(nic);
  const link = hostLinks.find(({ name }) => name === bound);
  if (link) return link.mtu;
  const device = vppInterfaces.find(({ internalName }) => internalName === nic)?.mtu;
  const known = hostLinks.filter(({ addresses }) =>
    addresses.some((address) => managementAddresses.includes(withoutPrefixLength(address))),
  );
  const network = known.length > 0 ? Math.min(...known.map(({ mtu }) => mtu)) : ETHERNET_MTU;
  return device ? Math.min(device, network) : network;
}

/** @param outer family of the tunnels' addresses; undefined: there are no tunnels */
export function innerMtu(underlay: number, outer: 4 | 6 | undefined): number {
  const overhead = outer === undefined ? 0 : VXLAN_BYTES + outerBytes[outer];
  return Math.max(underlay - overhead, MIN_MTU);
}
