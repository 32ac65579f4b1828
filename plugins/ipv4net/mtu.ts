/** MTU of the links to pods and host: derived from the underlay network, or the configured one. */
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import type { IpFamily } from '#models/ip.ts';
import type { HostLink } from '#plugins/controller/api/ports/host.ts';
import type { VppInterfaceInfo } from '#plugins/controller/api/ports/vpp.ts';
import { boundLink } from './names.ts';
import { withoutPrefixLength } from './node-input.ts';

export const MtuTooLargeError = defineError({
  name: 'MtuTooLargeError',
  code: 'CV_NET_MTU_TOO_LARGE',
  remedy:
    'Nothing is required: pods have the MTU that the text names. Increase the MTU of the NIC, on all nodes, or correct mtuSize; 0 derives it.',
});

/** How packets between nodes are wrapped; without an overlay they are not. */
export interface Tunnel {
  readonly protocol: 'VXLAN' | 'WireGuard';
  /** Of the addresses of its ends. */
  readonly family: IpFamily;
}

/** UDP, then inner Ethernet and VXLAN, or the header and the tag of WireGuard; the outer IP header is added to it. */
const tunnelBytes = { VXLAN: 8 + 14 + 8, WireGuard: 8 + 16 + 16 } as const;
const outerBytes = { 4: 20, 6: 40 } as const;
/** MTU that every Ethernet network supports. */
const ETHERNET_MTU = 1500;
/** Minimum MTU of a link with IPv6. */
const MIN_MTU = 1280;
/** Maximum MTU of VPP's interfaces. */
const MAX_MTU = 9216;

export interface Underlay {
  /** Name of the main interface; undefined: there is no NIC. */
  readonly nic: string | undefined;
  readonly vppInterfaces: readonly VppInterfaceInfo[];
  /** Links of the host, including the one that VPP is bound to. */
  readonly hostLinks: readonly HostLink[];
  /** Addresses of the Node object, without prefix length. */
  readonly managementAddresses: readonly string[];
}

/** The largest packet that the NIC itself can send; undefined if there is none, or it is unknown. */
function deviceMtu({ nic, vppInterfaces, hostLinks }: Underlay): number | undefined {
  if (nic === undefined) return undefined;
  const bound = boundLink(nic);
  const link = hostLinks.find(({ name }) => name === bound);
  return (
    link?.mtu ?? (vppInterfaces.find(({ internalName }) => internalName === nic)?.mtu || undefined)
  );
}

/**
 * The largest packet that the network between the nodes carries; undefined if there is no NIC. For a
 * link of the kernel this is its configured MTU. For a NIC that VPP drives, VPP knows only the limit
 * of the device, usually 9000, so the minimum of it and the MTU of the host link with the node's
 * Kubernetes address applies; without such a link, 1500.
 */
export function underlayMtu(underlay: Underlay): number | undefined {
  const { nic, hostLinks, managementAddresses } = underlay;
  if (nic === undefined) return undefined;
  const device = deviceMtu(underlay);
  const bound = boundLink(nic);
  if (hostLinks.some(({ name }) => name === bound)) return device;
  const known = hostLinks.filter(({ addresses }) =>
    addresses.some((address) => managementAddresses.includes(withoutPrefixLength(address))),
  );
  const network = known.length > 0 ? Math.min(...known.map(({ mtu }) => mtu)) : ETHERNET_MTU;
  return Math.min(device ?? network, network);
}

/**
 * MTU of the links to pods and host: the configured one, as far as the NIC can send such packets in
 * a tunnel; else the derived one.
 * @param configured 0: none
 * @returns undefined: not known
 */
export function podMtu(
  configured: number,
  underlay: Underlay,
  tunnel: Tunnel | undefined,
): { readonly mtu: number | undefined; readonly problem?: CodedError } {
  if (configured === 0) {
    const network = underlayMtu(underlay);
    return { mtu: network === undefined ? undefined : innerMtu(network, tunnel) };
  }
  const device = deviceMtu(underlay);
  const carried = device === undefined ? MAX_MTU : innerMtu(device, tunnel);
  const limit = Math.min(carried, MAX_MTU);
  if (configured <= limit) return { mtu: configured };
  const headers = tunnel === undefined ? '' : `, less the headers of ${tunnel.protocol},`;
  const cause =
    limit === MAX_MTU ? 'an interface of VPP' : `the MTU ${device} of ${underlay.nic}${headers}`;
  const text = `mtuSize is ${configured}; ${cause} permits ${limit}`;
  return { mtu: limit, problem: new MtuTooLargeError(`${text}: using ${limit}`) };
}

/** @param tunnel undefined: there are none */
export function innerMtu(underlay: number, tunnel: Tunnel | undefined): number {
  const overhead = tunnel ? tunnelBytes[tunnel.protocol] + outerBytes[tunnel.family] : 0;
  return Math.max(underlay - overhead, MIN_MTU);
}
