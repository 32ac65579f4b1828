/** A rendered service as values of VPP: one of NAT44 with a mapping for each address and port, and what it needs. */
import type { DeepInput } from '#models/model.ts';
import { type DNat44StaticMapping, dnat44Key, dnat44Model } from '#models/vpp/dnat44.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { NAT_LINK_TABLE } from '#plugins/ipv4net/api.ts';
import {
  type Backend,
  hasEndpoints,
  keepsClient,
  type RenderedService,
  type ServiceAddress,
  type ServiceName,
} from '../rendered-service.ts';
import { backendShares, MAX_BACKENDS } from './backend-shares.ts';
import {
  externalAddressValues,
  externalBackendValues,
  isInServiceSubnet,
  type NatNode,
  refusalValues,
} from './nat-node.ts';

/**
 * VPP balances over at least two backends. A mapping with one backend gets this one besides, which has
 * no share and is never chosen: then a second backend is added in place, one backend has session
 * affinity, too, and VPP does not answer for the address on every interface.
 */
const filler = { local_ip: '0.0.0.0', local_port: 1, vrf_id: 0, probability: 0 } as const;

/** Key of the value with the mappings of a service. */
export function mappingsKey(service: ServiceName): string {
  return dnat44Key.build({ label: service });
}

/**
 * All values that the service needs, also those that other services may need, too.
 * @param service in IPv4
 */
export function serviceValues(service: RenderedService, node: NatNode): KeyValue[] {
  const mappings: DeepInput<DNat44StaticMapping>[] = [];
  /** Addresses at which clients reach the service from outside. */
  const externalAddresses = new Set<string>();
  /** Addresses with a port that has no backend. */
  const refusing = new Set<string>();
  let hasExternalBackends = false;
  for (const address of service.addresses) {
    if (address.backends.length === 0) {
      if (refusesClients(address, node)) refusing.add(address.address);
      continue;
    }
    const backends = backendsInVpp(address);
    const isExternal =
      node.uplink !== undefined && backends.some(({ place }) => place === 'outside');
    if (isExternal) hasExternalBackends = true;
    if (isReachedFromOutside(address, node)) externalAddresses.add(address.address);
    mappings.push(mappingOf(address, backends, isExternal, node));
  }
  const values = [...refusing].flatMap((address) => refusalValues(node, address));
  if (mappings.length > 0)
    values.push(keyValue(dnat44Model, { label: service.name, st_mappings: mappings }));
  if (hasExternalBackends) values.push(...externalBackendValues(node));
  for (const address of externalAddresses) values.push(...externalAddressValues(node, address));
  return values;
}

/** Those of the mapping of an address; none: it has no mapping. */
export function backendsInVpp({ backends }: ServiceAddress): readonly Backend[] {
  return backends.slice(0, MAX_BACKENDS);
}

/** Sentences about what is not carried. */
export function limitsOf({ addresses }: RenderedService): string[] {
  return addresses
    .filter(({ backends }) => backends.length > MAX_BACKENDS)
    .map(
      ({ address, port, protocol, backends: { length } }) =>
        `${address} ${protocol} port ${port}: ${length - MAX_BACKENDS} of ${length} backends are not used, ` +
        `because VPP balances over ${MAX_BACKENDS}`,
    );
}

/**
 * Whether a route refuses the clients of an address without backends here. It takes all ports of the address, as VPP does
 * with those of its own; a record of a cluster IP outside of the service subnet, which may be that of a node, gets none.
 * Where other nodes have backends, clients outside have to ask there.
 */
function refusesClients(one: ServiceAddress, node: NatNode): boolean {
  if (one.kind === 'cluster-ip') return isInServiceSubnet(node, one.address);
  return isReachedFromOutside(one, node) && !hasEndpoints(one);
}

/** Whether replies leave by the uplink with the address as their source, which is not the node's. */
function isReachedFromOutside({ kind, address }: ServiceAddress, node: NatNode): boolean {
  const { uplink, ownAddresses } = node;
  if (uplink === undefined || address === uplink.address) return false;
  // VPP would take the whole address from the host
  if (ownAddresses.has(address)) return false;
  return kind === 'external-ip' || kind === 'load-balancer';
}

function mappingOf(
  address: ServiceAddress,
  backends: readonly Backend[],
  isExternal: boolean,
  node: NatNode,
): DeepInput<DNat44StaticMapping> {
  // the host has no route back to clients behind its own link
  const fromHost = node.servesHost && backends.some(({ place }) => place !== 'pod');
  const replacesClient = address.replacesClient || isExternal || fromHost;
  const shares = backendShares(backends, node.localWeight, replacesClient);
  const locals = backends.map((backend, at) => ({
    local_ip: backend.address,
    local_port: backend.port,
    vrf_id: vrfOf(backend, keepsClient(address), node),
    probability: shares[at],
  }));
  return {
    external_ip: address.address,
    external_port: address.port,
    protocol: address.protocol,
    twice_nat: replacesClient ? 'ENABLED' : 'SELF',
    session_affinity: address.affinityTimeout,
    local_ips: locals.length === 1 ? [...locals, filler] : locals,
  };
}

/**
 * The table in which replies of the backend come to NAT44: those of a machine outside come through a NIC. At the edge, replies
 * to a client whose address is replaced come over the link for replies, and the others from the backend's own interface. Without
 * sockets those of other nodes and their pods come through a tunnel, or without an overlay through a NIC.
 */
function vrfOf({ place, isLocal }: Backend, keepsClient: boolean, node: NatNode): number {
  const { mainVrf, podVrf, hasOverlay, hasSockets } = node;
  if (place === 'outside' || (isLocal && place === 'node')) return mainVrf;
  if (hasSockets && !keepsClient) return NAT_LINK_TABLE;
  return isLocal || hasOverlay ? podVrf : mainVrf;
}
