/**
 * The effective settings of this node. For each option the first source that says something wins:
 * the NodeConfig resource, the node's section of the file, the global part of the file, and at last
 * what is found out (the first NIC of VPP).
 */
import { type IpBytes, parseCidr, parseIp } from '#models/ip.ts';
import type { NodeConfig, NodeConfigInterfaceConfig } from '#models/kube/nodeconfig.ts';
import type {
  InterfaceConfig,
  IpamConfig,
  MainInterfaceConfig,
  NeighbourScanConfig,
  NodeInterfaceConfig,
  RoutingConfig,
} from './api.ts';
import type { ContivConfig, NodeSection } from './config.ts';
import { addressList, nodeSection } from './section.ts';

export interface ConfigSources {
  readonly file: ContivConfig;
  readonly nodeName: string;
  /** undefined: there is none, or the file says not to look at it. */
  readonly nodeConfig: NodeConfig | undefined;
  /** NICs of VPP by sw_if_index. */
  readonly nics: readonly string[];
}

export interface NodeSettings {
  readonly main: MainInterfaceConfig;
  readonly others: readonly NodeInterfaceConfig[];
  readonly defaultGateway: string;
  readonly natExternalTraffic: boolean;
  /** What the NodeConfig resource says that makes no sense, and is passed over. */
  readonly rejected: readonly string[];
}

/** One interface as both sources write it. */
interface Entry {
  readonly name: string;
  readonly ip: string;
  readonly useDhcp: boolean;
}

const fromResource = (entry: NodeConfigInterfaceConfig): Entry => ({
  name: entry.interface_name,
  ip: entry.ip,
  useDhcp: entry.use_dhcp,
});

const fromFile = (entry: NodeSection['mainVPPInterface']): Entry => ({
  name: entry.interfaceName,
  ip: entry.ip,
  useDhcp: entry.useDHCP,
});

export function resolveNode(sources: ConfigSources): NodeSettings {
  const { file, nodeConfig } = sources;
  const section = nodeSection(file, sources.nodeName)?.section;
  const rejected: string[] = [];

  const valid = <T>(
    field: string,
    texts: readonly string[],
    parse: (text: string) => T,
  ): string[] =>
    texts.filter((text) => {
      if (parse(text) !== undefined) return true;
      rejected.push(`${field}: "${text}" is no address`);
      return false;
    });
  const addresses = (field: string, entry: Entry): string[] =>
    valid(`${field}.ip`, addressList(entry.ip), parseCidr);
  const plain = (field: string, text: string): string | undefined =>
    valid<IpBytes | undefined>(field, text === '' ? [] : [text], parseIp)[0];

  const mainEntries: [string, Entry][] = [];
  if (nodeConfig?.main_vpp_interface)
    mainEntries.push(['main_vpp_interface', fromResource(nodeConfig.main_vpp_interface)]);
  if (section) mainEntries.push(['mainVPPInterface', fromFile(section.mainVPPInterface)]);

  const otherEntries: [string, Entry][] =
    nodeConfig && nodeConfig.other_vpp_interfaces.length > 0
      ? nodeConfig.other_vpp_interfaces.map((entry) => [
          'other_vpp_interfaces',
          fromResource(entry),
        ])
      : (section?.otherVPPInterfaces ?? []).map((entry) => ['otherVPPInterfaces', fromFile(entry)]);
  const others = otherEntries
    .filter(([field, entry]) => {
      if (entry.name === '') rejected.push(`${field}: an entry has no name`);
      return entry.name !== '';
    })
    .map(([field, entry]): NodeInterfaceConfig => {
      const given = addresses(field, entry);
      return { name: entry.name, addresses: given, useDhcp: given.length === 0 && entry.useDhcp };
    });

  const name =
    mainEntries.find(([, entry]) => entry.name !== '')?.[1].name ??
    sources.nics.find((nic) => !others.some((other) => other.name === nic));
  const given =
    mainEntries.map(([field, entry]) => addresses(field, entry)).find((list) => list.length > 0) ??
    [];
  const wantsDhcp =
    file.ipamConfig.nodeInterconnectDHCP || mainEntries.some(([, entry]) => entry.useDhcp);
  const useDhcp = wantsDhcp && given.length === 0 && name !== undefined;

  const gateway =
    plain('gateway', nodeConfig?.gateway ?? '') ??
    plain('gateway', section?.gateway ?? '') ??
    file.ipamConfig.defaultGateway;
  return {
    main: { name, addresses: given, useDhcp },
    others,
    // with DHCP, the server says where the way out is
    defaultGateway: useDhcp ? '' : gateway,
    natExternalTraffic:
      file.natExternalTraffic ||
      (section?.natExternalTraffic ?? false) ||
      (nodeConfig?.nat_external_traffic ?? false),
    rejected,
  };
}

const rxModes: Readonly<Record<string, InterfaceConfig['rxMode']>> = {
  polling: 'POLLING',
  interrupt: 'INTERRUPT',
  adaptive: 'ADAPTIVE',
};

export function interfaceConfig(file: ContivConfig): InterfaceConfig {
  return {
    mtu: file.mtuSize,
    useTap: file.useTAPInterfaces,
    tapRxRingSize: file.tapv2RxRingSize,
    tapTxRingSize: file.tapv2TxRingSize,
    rxMode: rxModes[file.interfaceRxMode] ?? 'DEFAULT',
    tcpChecksumOffloadDisabled: file.tcpChecksumOffloadDisabled,
    enableGso: file.enableGSO,
  };
}

export function routingConfig(file: ContivConfig): RoutingConfig {
  return {
    mainVrf: file.mainVRFID,
    podVrf: file.podVRFID,
    transport: file.nodeToNodeTransport === 'nooverlay' ? 'nooverlay' : 'vxlan',
    routeServiceCidrToVpp: file.routeServiceCIDRToVPP,
  };
}

export function ipamConfig(file: ContivConfig): IpamConfig {
  const { ipamConfig: ipam } = file;
  return {
    useExternalIpam: false,
    contivCidr: ipam.contivCIDR,
    serviceCidr: ipam.serviceCIDR,
    nodeInterconnectDhcp: ipam.nodeInterconnectDHCP,
    nodeInterconnectCidr: ipam.nodeInterconnectCIDR,
    podSubnetCidr: ipam.podSubnetCIDR,
    podSubnetOneNodePrefixLen: ipam.podSubnetOneNodePrefixLen,
    vppHostSubnetCidr: ipam.vppHostSubnetCIDR,
    vppHostSubnetOneNodePrefixLen: ipam.vppHostSubnetOneNodePrefixLen,
    vxlanCidr: ipam.vxlanCIDR,
    defaultGateway: ipam.defaultGateway,
  };
}

export function neighbourScanConfig(file: ContivConfig): NeighbourScanConfig {
  return {
    scan: file.scanIPNeighbors,
    interval: file.ipNeighborScanInterval,
    staleThreshold: file.ipNeighborStaleThreshold,
  };
}
