/** A rendered service as values of VPP's cnat: a translation for each address of IPv6 that clients outside ask, and what it needs. */
import { cnatTranslationModel } from '#models/vpp/cnat-translation.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { CNAT_TABLE, cnatLinkHop, VRF_LINK_TABLE } from '#plugins/ipv4net/api.ts';
import {
  type Backend,
  hasEndpoints,
  type RenderedService,
  type ServiceAddress,
} from '../rendered-service.ts';
import type { CnatNode } from './cnat-node.ts';

/** @param service in IPv6 */
export function cnatValues({ addresses }: RenderedService, node: CnatNode): KeyValue[] {
  const ofVpp = addresses.filter((one) => isAskedInVpp(one, node));
  const external = ofVpp.filter(
    (one) => isExternal(one, node) && (one.backends.length > 0 || !hasEndpoints(one)),
  );
  return [...new Set(external.map(({ address }) => address))]
    .flatMap((address) => externalAddressValues(address, node))
    .concat(ofVpp.flatMap((one) => translation(one, node)));
}

/** Those of the translation of an address; none: it has no translation. */
export function backendsInCnat(address: ServiceAddress, node: CnatNode): readonly Backend[] {
  return isAskedInVpp(address, node) ? address.backends : [];
}

/** Keys of the translations of a service. @param service in IPv6 */
export function translationKeys({ addresses }: RenderedService, node: CnatNode): string[] {
  return addresses
    .filter((one) => isAskedInVpp(one, node))
    .flatMap((one) => translation(one, node))
    .map(({ key }) => key);
}

/**
 * While a pod of this node answers clients outside with their own addresses, what leaves the pods passes the link for replies
 * to cnat: such a reply has no mark that distinguishes it from other packets.
 */
export function repliesToClients({ translatesSources }: CnatNode): KeyValue[] {
  if (translatesSources) return [];
  return ['::/1', '8000::/1'].map((dst_network) =>
    keyValue(vppRouteModel, { vrf_id: VRF_LINK_TABLE, dst_network, ...cnatLinkHop }),
  );
}

/**
 * Whether clients outside ask at the address in VPP: they have no right to cluster IPs. Packets to an address of the host come by
 * a NIC of the host; a translation there would only be one more step for what pods send to the host.
 */
function isAskedInVpp({ kind, address }: ServiceAddress, node: CnatNode): boolean {
  return (
    kind !== 'cluster-ip' && (node.vppAddresses.has(address) || !node.hostAddresses.has(address))
  );
}

function isExternal({ kind, address }: ServiceAddress, { vppAddresses }: CnatNode): boolean {
  return (kind === 'external-ip' || kind === 'load-balancer') && !vppAddresses.has(address);
}

function translation(one: ServiceAddress, { natLoopback }: CnatNode): KeyValue[] {
  const { address, port, protocol, replacesClient, affinityTimeout, backends } = one;
  // VPP aborts on a translation without a backend
  if (backends.length === 0) return [];
  return [
    keyValue(cnatTranslationModel, {
      external_ip: address,
      external_port: port,
      protocol,
      source_ip: replacesClient ? natLoopback : '',
      client_affinity: affinityTimeout > 0,
      backends: backends.map((backend) => ({ ip_address: backend.address, port: backend.port })),
    }),
  ];
}

/**
 * Packets to the address that are not translated are refused. Pods, which are translated at their sockets, must not reach the translation by
 * an interface of their table: replies of a pod that sees its client would not pass cnat.
 */
function externalAddressValues(address: string, { podVrf }: CnatNode): KeyValue[] {
  const common = { dst_network: `${address}/128`, next_hop_addr: '::' };
  return [
    keyValue(vppRouteModel, { ...common, type: 'UNREACHABLE', vrf_id: CNAT_TABLE }),
    keyValue(vppRouteModel, { ...common, type: 'DROP', vrf_id: podVrf }),
  ];
}
