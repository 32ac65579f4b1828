/** NAT44 of this node, besides its services: source NAT, the NAT loopback, the features of interfaces. */

import { contains, parseCidr, parseIp } from '#models/ip.ts';
import type { DeepInput } from '#models/model.ts';
import { dnat44Model } from '#models/vpp/dnat44.ts';
import { VXLAN_PORT } from '#models/vpp/interface.ts';
import type { TableLimit } from '#models/vpp/nat.gen.ts';
import { nat44AddressPoolModel } from '#models/vpp/nat44-address-pool.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { type Nat44Interface, nat44InterfaceModel } from '#models/vpp/nat44-interface.ts';
import { refusingRoutes } from '#models/vpp/refusing-routes.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import {
  type Ipv4NetApi,
  NAT_LINK_TABLE,
  type Uplink,
  VRF_LINK_TABLE,
} from '#plugins/ipv4net/api.ts';
import { DEFAULT_TABLE_SIZE, type ServiceConfig, sessionTimeouts } from '../config.ts';

/** An address of a pool that all tables use. */
const ANY_VRF = 0xffff_ffff;
/** Label of the node's addresses that are not translated, and begin of those of external addresses. */
const IDENTITIES = 'DNAT-identities';
/** ID of the table of external addresses; no interface is in it. */
const UNUSED_VRF = 0xffff_fffe;
/** The pool of the address that replaces clients of backends in the main VRF. */
const MAIN_VRF_CLIENTS = 'clients-of-main-vrf';

/** The last of so many equal parts of the session table is not for all senders. */
const RESERVED_PART = 16;

/** Constant between two resyncs, except the addresses of the host. */
export interface NatNode {
  readonly mainVrf: number;
  readonly podVrf: number;
  /** Whether other nodes are reached through VXLAN tunnels, in the table of the pods. */
  readonly hasOverlay: boolean;
  /** Whether packets of the host to services pass VPP. */
  readonly servesHost: boolean;
  /** undefined: sources are not translated. */
  readonly uplink: Uplink | undefined;
  /** Source of a pod that reaches itself, and of clients whose address must be replaced. */
  readonly natLoopback: string;
  /** Address of VPP as the gateway of the pods. */
  readonly podGateway: string;
  /** Address of VPP in the network of its link to the host; undefined: it has none of its own there. */
  readonly hostLinkAddress: string | undefined;
  readonly serviceSubnet: string;
  /** Of the host and of the NICs: as external addresses of services, they stay theirs. */
  readonly ownAddresses: ReadonlySet<string>;
  /** Weight of a backend on this node. */
  readonly localWeight: number;
  /**
   * Whether clients of this node are translated at their sockets. Then NAT44 is at the edge: it meets packets
   * from outside, and replies to them on the link for replies, not on the interfaces of pods and the overlay.
   */
  readonly hasSockets: boolean;
  readonly config: ServiceConfig;
}

export interface NatNodeDeps {
  readonly conf: ContivConfApi;
  readonly ipam: IpamApi;
  readonly net: Ipv4NetApi;
  readonly config: ServiceConfig;
}

/**
 * @param hasSockets whether clients of this node are translated at their sockets
 * @returns undefined: the pods have no addresses of IPv4
 */
export function readNatNode(deps: NatNodeDeps, hasSockets: boolean): NatNode | undefined {
  const { conf, ipam, net, config } = deps;
  const plan = ipam.families().find(({ family }) => family === 4);
  if (plan === undefined) return undefined;
  const { mainVrf, podVrf, transport, routeServiceCidrToVpp } = conf.routing();
  return {
    mainVrf,
    podVrf,
    hasOverlay: transport !== 'nooverlay',
    servesHost: routeServiceCidrToVpp,
    uplink: net.uplink(4),
    natLoopback: plan.natLoopback(),
    podGateway: plan.podGateway(),
    hostLinkAddress:
      conf.stn() === undefined ? withoutPrefixLength(plan.hostInterconnectVpp()) : undefined,
    serviceSubnet: plan.serviceSubnet(),
    ownAddresses: new Set([
      ...net.hostAddresses(),
      ...conf.otherInterfaces().flatMap(({ addresses }) => addresses.map(withoutPrefixLength)),
    ]),
    localWeight: config.serviceLocalEndpointWeight,
    hasSockets,
    config,
  };
}

function withoutPrefixLength(cidr: string): string {
  return cidr.slice(0, cidr.indexOf('/'));
}

/** All values besides those of services and interfaces. */
export function nodeValues(node: NatNode): KeyValue[] {
  const { uplink } = node;
  return [
    keyValue(nat44GlobalModel, globalInput(node)),
    ...(uplink === undefined
      ? []
      : [keyValue(nat44AddressPoolModel, { first_ip: uplink.address, vrf_id: ANY_VRF })]),
    ...twiceNatPool(node),
    nodeIdentities(node),
  ];
}

/**
 * Routes that refuse the clients of an address without backends. The route of the whole service subnet does not: VPP takes
 * the address of a mapping as its own in the table of each outside interface added later, and drops what it does not
 * translate. A route to the address itself precedes that.
 */
export function refusalValues({ mainVrf, podVrf }: NatNode, address: string): KeyValue[] {
  return refusingRoutes(`${address}/32`, [mainVrf, podVrf]).map((one) =>
    keyValue(vppRouteModel, one),
  );
}

export function isInServiceSubnet({ serviceSubnet }: NatNode, text: string): boolean {
  const subnet = parseCidr(serviceSubnet);
  const address = parseIp(text);
  return subnet !== undefined && address !== undefined && contains(subnet, address);
}

function globalInput(node: NatNode): Parameters<typeof nat44GlobalModel.canonical>[0] {
  const { config } = node;
  const { tcp, other } = sessionTimeouts(config);
  return {
    forwarding: true,
    ...(config.disableNATVirtualReassembly && { virtual_reassembly: { drop_fragments: true } }),
    sessions: {
      max_sessions: config.natSessionTableSize,
      tcp_established_timeout: tcp,
      udp_timeout: other,
      icmp_timeout: other,
      table_limits: tableLimits(node),
    },
  };
}

/**
 * VPP has one session table for all senders, and where it is full, it drops also what needs no session: the packets of
 * tunnels, which enter by the BVI of the pods' table, and replies of node ports, which enter by the link for replies. So
 * packets of the outside, of the host, and of pods to the outside leave the last part of the table to these.
 */
function tableLimits({ mainVrf, podVrf, config }: NatNode): TableLimit[] {
  const all = config.natSessionTableSize || DEFAULT_TABLE_SIZE;
  const most = all - Math.floor(all / RESERVED_PART);
  return [
    { vrf_id: mainVrf, max_sessions: most },
    { vrf_id: VRF_LINK_TABLE, max_sessions: most },
    { vrf_id: podVrf, max_sessions: all },
    { vrf_id: NAT_LINK_TABLE, max_sessions: all },
  ];
}

/** Packets of the node and of its tunnels are not translated where they leave by the uplink. */
function nodeIdentities(node: NatNode): KeyValue {
  const { uplink, mainVrf } = node;
  return keyValue(dnat44Model, {
    label: IDENTITIES,
    id_mappings:
      uplink === undefined
        ? []
        : [
            { ip_address: uplink.address, protocol: 'UDP', port: VXLAN_PORT, vrf_id: mainVrf },
            ...wholeAddress(node, uplink.address),
          ],
  });
}

function wholeAddress({ mainVrf, podVrf }: NatNode, ip_address: string) {
  return [mainVrf, podVrf, VRF_LINK_TABLE, NAT_LINK_TABLE].map((vrf_id) => ({
    ip_address,
    protocol: 'UDP' as const,
    vrf_id,
  }));
}

/**
 * Addresses by which clients are replaced. If VPP has several, it takes the one with the table of the
 * backend; without such a one no packet passes. So each has a table of its own from the start: a change ends the
 * sessions with the address. At the edge the gateway replaces clients of pods that answer on their own interface: a pod
 * that asks such an address and gets itself.
 */
function twiceNatPool({
  uplink,
  natLoopback,
  podGateway,
  hostLinkAddress,
  mainVrf,
  podVrf,
  hasSockets,
}: NatNode): KeyValue[] {
  const pool = (first_ip: string, vrf_id: number, name = ''): KeyValue =>
    keyValue(nat44AddressPoolModel, { first_ip, vrf_id, name, twice_nat: true });
  if (uplink === undefined) return [pool(natLoopback, ANY_VRF)];
  return [
    ...(hasSockets
      ? [pool(natLoopback, NAT_LINK_TABLE), pool(podGateway, podVrf)]
      : [pool(natLoopback, podVrf)]),
    ...(hostLinkAddress === undefined ? [] : [pool(hostLinkAddress, mainVrf, MAIN_VRF_CLIENTS)]),
  ];
}

/**
 * While a backend is outside of the cluster, clients of backends in the main VRF get the address of the
 * uplink: VPP does not translate the source of such a packet a second time.
 */
export function externalBackendValues({ uplink, mainVrf }: NatNode): KeyValue[] {
  if (uplink === undefined) return [];
  return [
    keyValue(nat44AddressPoolModel, {
      name: MAIN_VRF_CLIENTS,
      first_ip: uplink.address,
      vrf_id: mainVrf,
      twice_nat: true,
    }),
  ];
}

/**
 * For an external address of a service. Identities keep replies from being translated where they leave by
 * the uplink. VPP looks them up before mappings where it classifies packets, unless the address is
 * in a pool: it would dereference null if the mapping had affinity. No packet takes its source
 * from the pool, because no interface is in its table.
 */
export function externalAddressValues(node: NatNode, address: string): KeyValue[] {
  return [
    keyValue(vrfTableModel, { id: UNUSED_VRF, protocol: 'IPV4', label: 'externalAddresses-IPv4' }),
    keyValue(nat44AddressPoolModel, { first_ip: address, vrf_id: UNUSED_VRF }),
    keyValue(dnat44Model, {
      label: `${IDENTITIES}/${address}`,
      id_mappings: wholeAddress(node, address).map((one) => ({ ...one, requires_pool: true })),
    }),
  ];
}

/**
 * At the uplink packets come from outside. Where the edge link leads to it, sources are translated there. On every other
 * interface VPP decides for each packet, and creates no session for packets that it does not translate.
 */
export function interfaceValue({ uplink }: NatNode, name: string): KeyValue {
  return keyValue(nat44InterfaceModel, { name, ...featuresOf(uplink, name) });
}

function featuresOf(uplink: Uplink | undefined, name: string): DeepInput<Nat44Interface> {
  if (name === uplink?.edgeLink) return { output_feature: true, output_only: true };
  if (name !== uplink?.interface) return { nat_inside: true, classify: true };
  return uplink.edgeLink === undefined ? { output_feature: true } : { nat_outside: true };
}
