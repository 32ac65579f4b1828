/** `/dump/vpp/v2/arps`, `/routes`, `/proxyarp/…` and `/ipscanneigh`. */
import type { Route } from '#infra/http/route.ts';
import { type VppArpEntry, vppArpModel } from '#models/vpp/arp.ts';
import { type IPScanNeighbor, ipScanNeighborModel } from '#models/vpp/ip-scan-neighbor.ts';
import type { ProxyARP } from '#models/vpp/proxy-arp.ts';
import { type VppRoute, vppRouteModel } from '#models/vpp/route.ts';
import type { VrfTable } from '#models/vpp/vrf-table.ts';
import { type DocumentDeps, documentRoute, listOf } from '../document.ts';
import { structJsonOf } from '../message-json.ts';
import type { Southbound } from '../southbound.ts';

export function layer3Documents(deps: DocumentDeps): Route[] {
  const { clock } = deps;
  return [
    documentRoute('/dump/vpp/v2/arps', 'ARP entries', clock, () => arpEntries(deps)),
    documentRoute('/dump/vpp/v2/routes', 'routes', clock, () => routes(deps)),
    documentRoute('/dump/vpp/v2/proxyarp/interfaces', 'interfaces with proxy ARP', clock, () =>
      proxyArpInterfaces(deps),
    ),
    documentRoute('/dump/vpp/v2/proxyarp/ranges', 'address ranges of proxy ARP', clock, () =>
      proxyArpRanges(deps),
    ),
    documentRoute('/dump/vpp/v2/ipscanneigh', 'settings of the neighbor scan', clock, () =>
      ipScanNeighbor(deps),
    ),
  ];
}

async function arpEntries({ southbound, clock }: DocumentDeps) {
  const found = await southbound.read<VppArpEntry>('vpp-arp');
  return listOf(clock, found, ({ value }) => ({
    Arp: structJsonOf(vppArpModel, value),
    Meta: { SwIfIndex: southbound.indexOfInterface(value.interface) },
  }));
}

async function routes({ southbound, clock }: DocumentDeps) {
  const [found, tables] = await Promise.all([
    southbound.read<VppRoute>('vpp-route'),
    southbound.read<VrfTable>('vpp-vrf-table'),
  ]);
  const labels = new Map(
    tables.map(({ value }) => [tableOf(value.id, isIpv6(value)), value.label]),
  );
  return listOf(clock, found, ({ value }) => ({
    Route: structJsonOf(vppRouteModel, value),
    Meta: routeMeta(value, labels, southbound),
  }));
}

function isIpv6({ protocol }: VrfTable): boolean {
  return protocol === 'IPV6';
}

/** Name that VPP gives to a table without a label. */
function tableOf(id: number, isIPv6: boolean): string {
  return `${isIPv6 ? 'ipv6' : 'ipv4'}-VRF:${id}`;
}

function routeMeta(
  { vrf_id, dst_network, outgoing_interface }: VppRoute,
  labels: ReadonlyMap<string, string>,
  southbound: Southbound,
) {
  const IsIPv6 = dst_network.includes(':');
  const table = tableOf(vrf_id, IsIPv6);
  return {
    TableName: labels.get(table) || table,
    OutgoingIfIdx: southbound.indexOfInterface(outgoing_interface),
    IsIPv6,
    Afi: IsIPv6 ? 1 : 0,
    IsLocal: false,
    IsUDPEncap: false,
    IsUnreach: false,
    IsProhibit: false,
    IsResolveHost: false,
    IsResolveAttached: false,
    IsDvr: false,
    IsSourceLookup: false,
    NextHopID: 0,
    RpfID: 0,
    LabelStack: null,
  };
}

async function readProxyArp({ southbound }: DocumentDeps): Promise<readonly ProxyARP[]> {
  const found = await southbound.read<ProxyARP>('vpp-proxy-arp');
  return found.map(({ value }) => value);
}

async function proxyArpInterfaces(deps: DocumentDeps) {
  const interfaces = (await readProxyArp(deps)).flatMap((value) => value.interfaces);
  return listOf(deps.clock, interfaces, ({ name }) => ({
    Interface: { name },
    Meta: { SwIfIndex: deps.southbound.indexOfInterface(name) },
  }));
}

async function proxyArpRanges(deps: DocumentDeps) {
  const ranges = (await readProxyArp(deps)).flatMap((value) => value.ranges);
  return listOf(deps.clock, ranges, ({ first_ip_addr, last_ip_addr }) => ({
    Range: { first_ip_addr, last_ip_addr },
  }));
}

async function ipScanNeighbor({ southbound }: DocumentDeps) {
  const [found] = await southbound.read<IPScanNeighbor>('vpp-ip-scan-neighbor');
  return found ? structJsonOf(ipScanNeighborModel, found.value) : {};
}
