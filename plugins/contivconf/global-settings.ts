/** The settings that are the same for all nodes, as other plugins use them. */

import type { ContivConfig } from './config.ts';
import { defaultPrefixLength } from './node-prefix-length.ts';
import type {
  InterfaceConfig,
  IpamConfig,
  NeighborScanConfig,
  RoutingConfig,
  WireguardConfig,
} from './settings.ts';

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
    // VPP encrypts packets before their checksums are computed, and segments nothing after it
    enableGso: file.enableGSO && file.nodeToNodeTransport !== 'wireguard',
  };
}

export function routingConfig(file: ContivConfig): RoutingConfig {
  return {
    mainVrf: file.mainVRFID,
    podVrf: file.podVRFID,
    transport: file.nodeToNodeTransport === 'srv6' ? 'vxlan' : file.nodeToNodeTransport,
    routeServiceCidrToVpp: file.routeServiceCIDRToVPP,
  };
}

export function wireguardConfig(file: ContivConfig): WireguardConfig {
  return {
    port: file.wireguardPort,
    keyLifetime: file.wireguardKeyLifetime,
    clearText: file.wireguardClearText,
  };
}

export function ipamConfig(file: ContivConfig): IpamConfig {
  const { ipamConfig: ipam } = file;
  const [first = ''] = (ipam.contivCIDR || ipam.podSubnetCIDR).split(',');
  const prefixLength = defaultPrefixLength[first.includes(':') ? 6 : 4];
  return {
    useExternalIpam: ipam.useExternalIPAM,
    contivCidr: ipam.contivCIDR,
    serviceCidr: ipam.serviceCIDR,
    nodeInterconnectDhcp: ipam.nodeInterconnectDHCP,
    nodeInterconnectCidr: ipam.nodeInterconnectCIDR,
    podSubnetCidr: ipam.podSubnetCIDR,
    podSubnetOneNodePrefixLen: ipam.podSubnetOneNodePrefixLen || prefixLength,
    podSubnetOneNodePrefixLenIpv4: ipam.podSubnetOneNodePrefixLenIPv4,
    podSubnetOneNodePrefixLenIpv6: ipam.podSubnetOneNodePrefixLenIPv6,
    vppHostSubnetCidr: ipam.vppHostSubnetCIDR,
    vppHostSubnetOneNodePrefixLen: ipam.vppHostSubnetOneNodePrefixLen || prefixLength,
    vppHostSubnetOneNodePrefixLenIpv4: ipam.vppHostSubnetOneNodePrefixLenIPv4,
    vppHostSubnetOneNodePrefixLenIpv6: ipam.vppHostSubnetOneNodePrefixLenIPv6,
    vxlanCidr: ipam.vxlanCIDR,
    defaultGateway: ipam.defaultGateway,
  };
}

export function neighborScanConfig(file: ContivConfig): NeighborScanConfig {
  return {
    scan: file.scanIPNeighbors,
    interval: file.ipNeighborScanInterval,
    staleThreshold: file.ipNeighborStaleThreshold,
  };
}
