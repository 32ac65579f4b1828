/** The VRFs, the routes between them, and neighbor scanning (values 9 to 14 of the original). */
import type { IpFamily } from '#models/ip.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { ipScanNeighborModel } from '#models/vpp/ip-scan-neighbor.ts';
import { refusingRoutes } from '#models/vpp/refusing-routes.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { dropRoute } from './drop-route.ts';
import { edgeLinkValues } from './edge-link.ts';
import { hostRepliesValues } from './host-replies.ts';
import { interVrfRoute } from './inter-vrf-route.ts';
import { POD_GATEWAY_LOOPBACK } from './names.ts';
import { natLinkValues } from './nat-link.ts';
import { hostNetwork, type NodeInput, prefixLength } from './node-input.ts';
import { vrfLinkValues } from './vrf-link.ts';

export function vrfValues(input: NodeInput): KeyValue[] {
  return [
    ...tables(input),
    podGateway(input),
    ...vrfLinkValues(input),
    ...edgeLinkValues(input),
    ...(input.family === 4
      ? [...natLinkValues(input, ownHost(input)), ...hostRepliesValues(input)]
      : []),
    ...betweenVrfs(input),
    ...dropRoutes(input),
    ...unreachableServices(input),
    ...neighborScan(input),
  ];
}

/** Table 0 always exists; its value sets the label. */
function tables({ routing, family }: NodeInput): KeyValue[] {
  const table = (id: number, label: string, of: IpFamily): KeyValue =>
    keyValue(vrfTableModel, { id, protocol: `IPV${of}`, label: `${label}-IPv${of}` });
  return [
    table(routing.mainVrf, 'mainVRF', 4),
    ...(family === 6 ? [table(routing.mainVrf, 'mainVRF', 6)] : []),
    table(routing.podVrf, 'podVRF', family),
  ];
}

/** Gateway of the pods; their VPP interfaces borrow its address. */
function podGateway({ addresses, routing }: NodeInput): KeyValue {
  return keyValue(vppInterfaceModel, {
    name: POD_GATEWAY_LOOPBACK,
    type: 'SOFTWARE_LOOPBACK',
    enabled: true,
    vrf: routing.podVrf,
    ip_addresses: [`${addresses.podGateway()}/${prefixLength(addresses.podSubnetThisNode())}`],
  });
}

/** Between this node and its pods, and between hosts; everything else passes a link of VRFs. */
function betweenVrfs(input: NodeInput): KeyValue[] {
  const { addresses, routing, family } = input;
  const toMain = family === 6 ? ownHost(input) : [];
  const toPods = routing.transport === 'vxlan' ? [addresses.hostInterconnectSubnetAllNodes()] : [];
  return [
    ...toPods.map((network) => interVrfRoute(network, routing.mainVrf, routing.podVrf)),
    ...toMain.map((network) => interVrfRoute(network, routing.podVrf, routing.mainVrf)),
  ];
}

/** Networks of the host of this node, for which pods need a route of their own. */
function ownHost({ addresses, routing, family, hostAddresses, stn }: NodeInput): string[] {
  // with STN the link has no subnet: the main VRF would return its packets to the VRF of the pods
  const hasLinkSubnet = routing.transport === 'vxlan' && stn === undefined;
  return [
    // more specific than the route that drops packets to removed hosts
    ...(hasLinkSubnet ? [addresses.hostInterconnectSubnetThisNode()] : []),
    // VPP makes an address with a node port its own in this table when a pod comes, and keeps it
    ...(family === 4 ? hostAddresses.map(hostNetwork) : []),
  ];
}

/** Drop packets to removed pods and nodes, which would loop between the VRFs. */
function dropRoutes({ addresses, routing }: NodeInput): KeyValue[] {
  const networks =
    routing.transport === 'vxlan'
      ? [addresses.podSubnetAllNodes(), addresses.hostInterconnectSubnetAllNodes()]
      : [];
  return networks.map((network) => dropRoute(network, routing.podVrf));
}

/** A packet to an address of services that is not translated must not leave the cluster by the default route. */
function unreachableServices({ addresses, routing }: NodeInput): KeyValue[] {
  const tables = [routing.mainVrf, routing.podVrf];
  return refusingRoutes(addresses.serviceSubnet(), tables).map((one) =>
    keyValue(vppRouteModel, one),
  );
}

function neighborScan({ neighborScan: scan, family }: NodeInput): KeyValue[] {
  if (!scan.scan) return [];
  return [
    keyValue(ipScanNeighborModel, {
      mode: family === 4 ? 'IPV4' : 'BOTH',
      scan_interval: scan.interval,
      stale_threshold: scan.staleThreshold,
    }),
  ];
}
