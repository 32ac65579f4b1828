/** Carriers of a service on this node: which one has which part of it is decided here alone. */
import type { IpFamily } from '#models/ip.ts';
import type { DesiredValues } from '#plugins/controller/api/desired-values.ts';
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import { familyOfAddress } from '#plugins/ipam/api.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import { type CnatNode, readCnatNode } from './cnat/cnat-node.ts';
import {
  backendsInCnat,
  cnatValues,
  repliesToClients,
  translationKeys,
} from './cnat/service-values.ts';
import type { PodInterface } from './local-interfaces.ts';
import {
  interfaceValue,
  type NatNode,
  type NatNodeDeps,
  nodeValues,
  readNatNode,
} from './nat44/nat-node.ts';
import { repliesByHost } from './nat44/replies-by-host.ts';
import { backendsInVpp, limitsOf, mappingsKey, serviceValues } from './nat44/service-values.ts';
import type { LocalNode } from './processor/local-node.ts';
import type { ServiceIndex } from './processor/service-index.ts';
import {
  type Backend,
  inFamily,
  type RenderedService,
  type ServiceAddress,
} from './rendered-service.ts';
import { clientLinkValues } from './socket/client-links.ts';
import { exemptionKey, exemptionValues, type PodContainer } from './socket/exempt-pods.ts';
import { type AddressedNode, NodeAddresses } from './socket/node-addresses.ts';
import {
  backendsAtSockets,
  type SocketRendering,
  socketKey,
  socketLimitsOf,
  socketValue,
} from './socket/socket-values.ts';

export interface Carriers {
  /** undefined: the pods have no addresses of IPv4, and NAT44 translates no others. */
  readonly nat: NatNode | undefined;
  /** Whether pods have addresses of IPv6, which are translated for them at sockets alone. */
  readonly hasIpv6: boolean;
  /** undefined: nothing in VPP translates addresses of IPv6. */
  readonly cnat: CnatNode | undefined;
  /** undefined: the kernel of this node translates nothing. */
  readonly sockets: SocketNode | undefined;
  /** Services by the addresses of those pods of this node that answer clients outside with their own addresses. */
  readonly clientsOutside: ServiceIndex;
}

/** The carriers of this node, which change with its addresses. */
export type NodeCarriers = Pick<Carriers, 'nat' | 'hasIpv6' | 'cnat' | 'sockets'>;

/** This node as its kernel translates at sockets. */
export interface SocketNode extends SocketRendering {
  readonly addresses: NodeAddresses;
}

/** Whether the kernel translates at sockets, and VPP with cnat. */
export interface CarrierTraits {
  readonly hasSockets: boolean;
  readonly hasCnat: boolean;
}

/** cnat is at the edge alone: without sockets nothing would translate for pods in IPv6. */
export function hasEdgeOfIpv6(deps: NatNodeDeps, traits: CarrierTraits): boolean {
  return cnatOf(deps, traits) !== undefined;
}

function cnatOf(deps: NatNodeDeps, { hasSockets, hasCnat }: CarrierTraits): CnatNode | undefined {
  return hasSockets && hasCnat ? readCnatNode(deps) : undefined;
}

export function readCarriers(
  deps: NatNodeDeps,
  node: Pick<LocalNode, 'addresses' | 'families' | 'hostSources'>,
  traits: CarrierTraits,
): NodeCarriers {
  const { hasSockets } = traits;
  const localWeight = deps.config.serviceLocalEndpointWeight;
  return {
    nat: readNatNode(deps, hasSockets),
    hasIpv6: node.families.includes(6),
    cnat: cnatOf(deps, traits),
    sockets: hasSockets
      ? { addresses: new NodeAddresses(node), localWeight, hostSources: node.hostSources }
      : undefined,
  };
}

/**
 * NAT44 has all of a service in IPv4: for packets from outside, and from pods without sockets of this kernel. cnat has in
 * IPv6 what clients outside ask. With sockets the kernel has all of it, too: their packets have the address of a backend when
 * VPP sees them.
 */
export function carrierValues(
  service: RenderedService,
  { nat, cnat, sockets }: NodeCarriers,
): KeyValue[] {
  return [
    ...(nat ? serviceValues(inFamily(service, 4), nat) : []),
    ...(cnat ? cnatValues(inFamily(service, 6), cnat) : []),
    ...(sockets ? [socketValue(service, sockets)] : []),
  ];
}

export function rendererName({ nat, cnat, sockets }: NodeCarriers): string {
  const names = { nat44: nat, cnat, socket: sockets };
  return Object.entries(names)
    .flatMap(([name, carrier]) => (carrier === undefined ? [] : [name]))
    .join(', ');
}

/** A part of the node that forwards the clients of a service: NAT44 and cnat those whose packets they meet. */
export type CarrierName = 'NAT44' | 'cnat' | 'sockets';

/** An address of a service in its mapping of one carrier. */
export interface AddressCarrier {
  readonly carrier: CarrierName;
  /** None: clients are refused. */
  readonly backends: readonly Backend[];
}

/** The carriers of one address of a service. */
export function addressCarriers(
  address: ServiceAddress,
  { nat, cnat, sockets }: NodeCarriers,
): AddressCarrier[] {
  const isIpv4 = familyOfAddress(address.address) === 4;
  const inNat44 = nat && isIpv4 ? backendsInVpp(address) : [];
  const inCnat = cnat && !isIpv4 ? backendsInCnat(address, cnat) : [];
  return [
    ...(inNat44.length > 0 ? [{ carrier: 'NAT44', backends: inNat44 } as const] : []),
    ...(inCnat.length > 0 ? [{ carrier: 'cnat', backends: inCnat } as const] : []),
    ...(sockets ? [{ carrier: 'sockets', backends: backendsAtSockets(address) } as const] : []),
  ];
}

/** Sentences about what the carriers leave out. */
export function carrierLimits(
  service: RenderedService | undefined,
  { nat, cnat, sockets }: NodeCarriers,
): string[] {
  if (service === undefined) return [];
  return [
    ...(nat ? limitsOf(inFamily(service, 4)) : []),
    ...(sockets ? socketLimitsOf(service) : limitsWithoutSockets(service)),
    ...(sockets && !cnat ? limitsWithoutCnat(service) : []),
  ];
}

/** Clients outside of the cluster have no right to cluster IPs. */
function limitsWithoutCnat(service: RenderedService): string[] {
  return inFamily(service, 6).addresses.every(({ kind }) => kind === 'cluster-ip')
    ? []
    : [
        'IPv6 is carried at sockets only: clients outside of the cluster are not served, because VPP translates IPv6 from release 26.06 on, in table 0 alone',
      ];
}

function limitsWithoutSockets(service: RenderedService): string[] {
  return inFamily(service, 6).addresses.length === 0
    ? []
    : [
        'addresses of IPv6 are not carried, because NAT44 of VPP translates IPv4 alone, and nothing is translated at sockets',
      ];
}

/**
 * Addresses of a node at which node ports are reached. NAT44 has those of this node in each service, and leaves other
 * nodes to themselves.
 */
export function nodeCarrierValues(
  node: AddressedNode,
  { sockets }: Pick<Carriers, 'sockets'>,
): KeyValue[] {
  return sockets?.addresses.valuesOf(node) ?? [];
}

/** Keys of the values with the mappings of a service, of those that carry it. */
export function carrierKeys(
  service: RenderedService,
  { nat, cnat, sockets }: NodeCarriers,
): string[] {
  return [
    ...(nat ? [mappingsKey(service.name)] : []),
    ...(cnat ? translationKeys(inFamily(service, 6), cnat) : []),
    ...(sockets ? [socketKey(service.name)] : []),
  ];
}

/** The way to NAT44 for clients outside that come by a NIC of the host. */
export function linkCarrierValues(
  net: Ipv4NetApi,
  { nat, sockets }: Pick<Carriers, 'nat' | 'sockets'>,
): KeyValue[] {
  return nat && sockets ? clientLinkValues(net) : [];
}

/** NAT44 of this node, and on the interfaces of VPP that are not those of pods. */
export function natValues(net: Ipv4NetApi, { nat }: Pick<Carriers, 'nat'>): KeyValue[] {
  return nat ? [...nodeValues(nat), ...nodeInterfaceValues(net, nat)] : [];
}

function nodeInterfaceValues(net: Ipv4NetApi, nat: NatNode): KeyValue[] {
  const toPods = nat.hasSockets ? [net.natLink()] : net.overlayInterfaces();
  const edge = nat.uplink?.edgeLink === undefined ? [] : [nat.uplink.edgeLink];
  const others = [net.mainInterface(), ...net.otherInterfaces(), net.hostInterconnect()];
  return [...toPods, ...edge, ...others].map((name) => interfaceValue(nat, name));
}

/**
 * NAT44 on the interface of a pod, and the exemption of its sockets. With sockets only these pods have it: those whose
 * packets are to be translated, and those that answer clients outside with their own addresses, because such a reply
 * has no mark by which it could be routed to NAT44, or to cnat.
 */
export function podCarrierValues(
  { vppInterface, addresses, container, wantsPackets }: PodInterface,
  { nat, cnat, sockets, clientsOutside }: Carriers,
): KeyValue[] {
  const answersClients = (family: IpFamily) =>
    addresses.some((one) => familyOfAddress(one) === family && clientsOutside.of(one).size > 0);
  const hasClients = answersClients(4);
  const isTranslated = !sockets || wantsPackets || hasClients;
  return [
    ...(nat && isTranslated ? [interfaceValue(nat, vppInterface)] : []),
    ...(nat && sockets && hasClients ? repliesByHost() : []),
    ...(cnat && answersClients(6) ? repliesToClients(cnat) : []),
    ...(sockets && wantsPackets ? exemptionValues(container) : []),
  ];
}

/** The place where addresses of services are translated for a pod: its sockets, or its packets in VPP. */
export type ServiceTranslation = 'sockets' | 'packets';

/** undefined: nothing translates for the pod. */
export function translationOf(
  container: Pick<PodContainer, 'containerId'>,
  { nat, sockets }: NodeCarriers,
  desired: Pick<DesiredValues, 'value'>,
): ServiceTranslation | undefined {
  if (sockets && !isExempt(container, desired)) return 'sockets';
  return nat && 'packets';
}

/** Whether the sockets of a pod are left alone. */
export function isExempt(
  container: Pick<PodContainer, 'containerId'>,
  desired: Pick<DesiredValues, 'value'>,
): boolean {
  return desired.value(exemptionKey(container)) !== undefined;
}
