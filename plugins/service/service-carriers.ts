/** Carriers of a service on this node: which one has which part of it is decided here alone. */
import type { DesiredValues } from '#plugins/controller/api/desired-values.ts';
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import type { PodInterface } from './local-interfaces.ts';
import { interfaceValue, type NatNode } from './nat44/nat-node.ts';
import { backendsInVpp, limitsOf, mappingsKey, serviceValues } from './nat44/service-values.ts';
import type { ServiceIndex } from './processor/service-index.ts';
import type { Backend, RenderedService, ServiceAddress, ServiceName } from './rendered-service.ts';
import { exemptionKey, exemptionValues, type PodContainer } from './socket/exempt-pods.ts';
import type { AddressedNode, NodeAddresses } from './socket/node-addresses.ts';
import {
  backendsAtSockets,
  socketKey,
  socketLimitsOf,
  socketValue,
} from './socket/socket-values.ts';

export interface Carriers {
  readonly nat: NatNode;
  /** Services by the addresses of those pods of this node that answer clients outside with their own addresses. */
  readonly clientsOutside: ServiceIndex;
  readonly addresses: NodeAddresses;
}

/**
 * NAT44 has all of a service: for packets from outside, and from pods without sockets of this kernel. With
 * sockets the kernel has all of it, too: their packets have the address of a backend when VPP sees them.
 */
export function carrierValues(
  service: RenderedService,
  { nat }: Pick<Carriers, 'nat'>,
): KeyValue[] {
  const values = serviceValues(service, nat);
  return nat.hasSockets ? [...values, socketValue(service, nat.localWeight)] : values;
}

/** A part of the node that forwards the clients of a service: NAT44 those whose packets it meets. */
export type CarrierName = 'NAT44' | 'sockets';

/** An address of a service in its mapping of one carrier. */
export interface AddressCarrier {
  readonly carrier: CarrierName;
  /** None: clients are refused. */
  readonly backends: readonly Backend[];
}

/** The carriers of one address of a service. */
export function addressCarriers(
  address: ServiceAddress,
  { nat }: Pick<Carriers, 'nat'>,
): AddressCarrier[] {
  const inVpp = backendsInVpp(address);
  return [
    ...(inVpp.length > 0 ? [{ carrier: 'NAT44', backends: inVpp } as const] : []),
    ...(nat.hasSockets
      ? [{ carrier: 'sockets', backends: backendsAtSockets(address) } as const]
      : []),
  ];
}

/** Sentences about what the carriers leave out. */
export function carrierLimits(
  service: RenderedService | undefined,
  { nat }: Pick<Carriers, 'nat'>,
): string[] {
  if (service === undefined) return [];
  return [...limitsOf(service), ...(nat.hasSockets ? socketLimitsOf(service) : [])];
}

/**
 * Addresses of a node at which node ports are reached. NAT44 has those of this node in each service, and leaves other
 * nodes to themselves.
 */
export function nodeCarrierValues(node: AddressedNode, { nat, addresses }: Carriers): KeyValue[] {
  return nat.hasSockets ? addresses.valuesOf(node) : [];
}

/** Keys of the values with the mappings of a service, of those that carry it. */
export function carrierKeys(service: ServiceName, hasSockets: boolean): string[] {
  return hasSockets ? [mappingsKey(service), socketKey(service)] : [mappingsKey(service)];
}

/** NAT44 on the interfaces of VPP that are not those of pods. */
export function nodeInterfaceValues(net: Ipv4NetApi, nat: NatNode): KeyValue[] {
  const overlay = net.vxlanBvi();
  const toPods = nat.hasSockets ? [net.natLink()] : overlay === undefined ? [] : [overlay];
  const others = [net.mainInterface(), ...net.otherInterfaces(), net.hostInterconnect()];
  return [...toPods, ...others].map((name) => interfaceValue(nat, name));
}

/**
 * NAT44 on the interface of a pod, and the exemption of its sockets. With sockets only these pods have it: those whose
 * packets are to be translated, and those that answer clients outside with their own addresses, because such a reply
 * has no mark by which it could be routed to NAT44.
 */
export function podCarrierValues(
  { vppInterface, addresses, container, wantsPackets }: PodInterface,
  { nat, clientsOutside }: Carriers,
): KeyValue[] {
  const hasClients = addresses.some((one) => clientsOutside.of(one).size > 0);
  const isTranslated = !nat.hasSockets || wantsPackets || hasClients;
  return [
    ...(isTranslated ? [interfaceValue(nat, vppInterface)] : []),
    ...(nat.hasSockets && wantsPackets ? exemptionValues(container) : []),
  ];
}

/** The place where addresses of services are translated for a pod: its sockets, or its packets in VPP. */
export type ServiceTranslation = 'sockets' | 'packets';

export function translationOf(
  container: Pick<PodContainer, 'containerId'>,
  hasSockets: boolean,
  desired: Pick<DesiredValues, 'value'>,
): ServiceTranslation {
  const isExempt = desired.value(exemptionKey(container)) !== undefined;
  return hasSockets && !isExempt ? 'sockets' : 'packets';
}
