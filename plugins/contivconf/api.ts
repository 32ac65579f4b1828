/** The effective configuration of the node, resolved from all its sources. */
import { defineEvent, EventMethod } from '#eventloop/event.ts';

export interface InterfaceConfig {
  readonly mtu: number;
  readonly useTap: boolean;
  /** 0: VPP's default. */
  readonly tapRxRingSize: number;
  readonly tapTxRingSize: number;
  readonly rxMode: 'DEFAULT' | 'POLLING' | 'INTERRUPT' | 'ADAPTIVE';
  readonly tcpChecksumOffloadDisabled: boolean;
  readonly enableGso: boolean;
}

export interface RoutingConfig {
  readonly mainVrf: number;
  readonly podVrf: number;
  readonly transport: 'vxlan' | 'nooverlay';
  readonly routeServiceCidrToVpp: boolean;
}

export interface IpamConfig {
  readonly useExternalIpam: boolean;
  /** CIDRs as text; empty when not set. */
  readonly contivCidr: string;
  readonly serviceCidr: string;
  readonly nodeInterconnectDhcp: boolean;
  readonly nodeInterconnectCidr: string;
  readonly podSubnetCidr: string;
  readonly podSubnetOneNodePrefixLen: number;
  readonly vppHostSubnetCidr: string;
  readonly vppHostSubnetOneNodePrefixLen: number;
  readonly vxlanCidr: string;
  readonly defaultGateway: string;
}

export interface NeighbourScanConfig {
  readonly scan: boolean;
  /** Minutes. */
  readonly interval: number;
  readonly staleThreshold: number;
}

export interface NodeInterfaceConfig {
  readonly name: string;
  /** CIDRs. */
  readonly addresses: readonly string[];
  readonly useDhcp: boolean;
}

/** The interface towards the other nodes. */
export interface MainInterfaceConfig extends Omit<NodeInterfaceConfig, 'name'> {
  /** undefined: there is no NIC, a loopback stands in for it. */
  readonly name: string | undefined;
}

/** As of the last resync; what stands in the file is there from the beginning. */
export interface ContivConfApi {
  useIpv6(): boolean;
  mainInterface(): MainInterfaceConfig;
  otherInterfaces(): readonly NodeInterfaceConfig[];
  /** Plain address; empty when there is none. */
  defaultGateway(): string;
  natExternalTraffic(): boolean;
  interfaces(): InterfaceConfig;
  routing(): RoutingConfig;
  ipam(): IpamConfig;
  neighbourScan(): NeighbourScanConfig;
}

/** The NodeConfig of this node changed: everything that was derived from it is calculated anew. */
export const NodeConfigChange = defineEvent<{ readonly node: string }>({
  id: 'node-config-change',
  blocking: false,
  name: 'Node-specific Configuration Change',
  describe: (payload) => `Node-specific Configuration Change\n* node: ${payload.node}`,
  method: EventMethod.UpstreamResync,
});
