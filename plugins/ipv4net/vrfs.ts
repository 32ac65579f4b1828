/** The VRFs, the routes between them, and neighbor scanning (values 9 to 14 of the original). */
import type { IpFamily } from '#models/ip.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { ipScanNeighborModel } from '#models/vpp/ip-scan-neighbor.ts';
import { refusingRoutes } from '#models/vpp/refusing-routes.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { cnatLinkValues } from './cnat-link.ts';
import { dropRoute } from './drop-route.ts';
import { edgeLinkValues } from './edge-link.ts';
import { hostRepliesValues } from './host-replies.ts';
import { interVrfRoute } from './inter-vrf-route.ts';
import { POD_GATEWAY_LOOPBACK } from './names.ts';
import { natLinkValues } from './nat-link.ts';
import {
  type FamilyInput,
  familyInput,
  hasOverlay,
  hostNetwork,
  type NodeInput,
  ofAllFamilies,
  prefixLength,
} from './node-input.ts';
import { vrfLinkValues } from './vrf-link.ts';

export function vrfValues(input: NodeInput): KeyValue[] {
  const ipv4 = familyInput(input, 4);
  const ipv6 = familyInput(input, 6);
  return [
    ...tables(input),
    podGateway(input),
    ...vrfLinkValues(input),
    ...edgeLinkValues(input),
    ...(ipv4 ? [...natLinkValues(ipv4, ownHost(ipv4)), ...hostRepliesValues(ipv4)] : []),
    ...(ipv6 ? cnatLinkValues(ipv6) : []),
    ...ofAllFamilies(input, (one) => [
      ...betweenVrfs(one),
      ...dropRoutes(one),
      ...unreachableServices(one),
    ]),
    ...neighborScan(input),
  ];
}

/** Table 0 always exists; its value sets the label. */
function tables({ routing, networks }: NodeInput): KeyValue[] {
  const table = (id: number, label: string, of: IpFamily): KeyValue =>
    keyValue(vrfTableModel, { id, protocol: `IPV${of}`, label: `${label}-IPv${of}` });
  return [
    table(routing.mainVrf, 'mainVRF', 4),
    ...(networks.some(({ family }) => family === 6) ? [table(routing.mainVrf, 'mainVRF', 6)] : []),
    ...networks.map(({ family }) => table(routing.podVrf, 'podVRF', family)),
  ];
}

/** Gateway of the pods; their VPP interfaces borrow its address. */
function podGateway({ networks, routing }: NodeInput): KeyValue {
  return keyValue(vppInterfaceModel, {
    name: POD_GATEWAY_LOOPBACK,
    type: 'SOFTWARE_LOOPBACK',
    enabled: true,
    vrf: routing.podVrf,
    ip_addresses: networks.map(
      ({ addresses }) => `${addresses.podGateway()}/${prefixLength(addresses.podSubnetThisNode())}`,
    ),
  });
}

/** Between this node and its pods, and between hosts; everything else passes a link of VRFs. */
function betweenVrfs(input: FamilyInput): KeyValue[] {
  const { addresses, routing, family } = input;
  const toMain = family === 6 ? ownHost(input) : [];
  const toPods = hasOverlay(input) ? [addresses.hostInterconnectSubnetAllNodes()] : [];
  return [
    ...toPods.map((network) => interVrfRoute(network, routing.mainVrf, routing.podVrf)),
    ...toMain.map((network) => interVrfRoute(network, routing.podVrf, routing.mainVrf)),
  ];
}

/** Networks of the host of this node, for which pods need a route of their own. */
function ownHost(input: FamilyInput): string[] {
  const { addresses, family, hostAddresses, stn } = input;
  // with STN the link has no subnet: the main VRF would return its packets to the VRF of the pods
  const hasLinkSubnet = hasOverlay(input) && stn === undefined;
  return [
    // more specific than the route that drops packets to removed hosts
    ...(hasLinkSubnet ? [addresses.hostInterconnectSubnetThisNode()] : []),
    // VPP makes an address with a node port its own in this table when a pod comes, and keeps it
    ...(family === 4 ? hostAddresses.map(hostNetwork) : []),
  ];
}

/** Drop packets to removed pods and nodes, which would loop between the VRFs. */
function dropRoutes({ addresses, routing }: FamilyInput): KeyValue[] {
  const networks = hasOverlay({ routing })
    ? [addresses.podSubnetAllNodes(), addresses.hostInterconnectSubnetAllNodes()]
    : [];
  return networks.map((network) => dropRoute(network, routing.podVrf));
}

/** A packet to an address of services that is not translated must not leave the cluster by the default route. */
function unreachableServices({ addresses, routing }: FamilyInput): KeyValue[] {
  if (addresses.serviceSubnet() === '') return [];
  const tables = [routing.mainVrf, routing.podVrf];
  return refusingRoutes(addresses.serviceSubnet(), tables).map((one) =>
    keyValue(vppRouteModel, one),
  );
}

function neighborScan({ neighborScan: scan, networks }: NodeInput): KeyValue[] {
  if (!scan.scan) return [];
  return [
    keyValue(ipScanNeighborModel, {
      mode: networks.every(({ family }) => family === 4) ? 'IPV4' : 'BOTH',
      scan_interval: scan.interval,
      stale_threshold: scan.staleThreshold,
    }),
  ];
}
