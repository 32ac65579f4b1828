/** MTU of the links to pods and host if none is configured, derived from the underlay network. */
import type { HostLink } from '#plugins/controller/api/ports/host.ts';
import type { VppInterfaceInfo } from '#plugins/controller/api/ports/vpp.ts';
import { boundLink } from './names.ts';
import { withoutPrefixLength } from './node-input.ts';

/** Inner Ethernet, VXLAN and UDP; the outer IP header is added to it. */
const VXLAN_BYTES = 14 + 8 + 8;
const outerBytes = { 4: 20, 6: 40 } as const;
/** MTU that every Ethernet network supports. */
const ETHERNET_MTU = 1500;
/** Minimum MTU of a link with IPv6. */
const MIN_MTU = 1280;

export interface Underlay {
  /** Name of the main interface; undefined: there is no NIC. */
  readonly nic: string | undefined;
  readonly vppInterfaces: readonly VppInterfaceInfo[];
  /** Links of the host, including the one that VPP is bound to. */
  readonly hostLinks: readonly HostLink[];
  /** Addresses of the Node object, without prefix length. */
  readonly managementAddresses: readonly string[];
}

/**
 * The largest packet that the network between the nodes carries; undefined if there is no NIC. For a
 * link of the kernel this is its configured MTU. For a NIC that VPP drives, VPP knows only the limit
 * of the device, usually 9000, so the minimum of it and the MTU of the host link with the node's
 * Kubernetes address applies; without such a link, 1500.
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

/** @param outer family of the tunnel addresses; undefined: no tunnels */
export function innerMtu(underlay: number, outer: 4 | 6 | undefined): number {
  const overhead = outer === undefined ? 0 : VXLAN_BYTES + outerBytes[outer];
  return Math.max(underlay - overhead, MIN_MTU);
}
