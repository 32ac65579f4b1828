/**
 * The effective configuration of the node, resolved from all its sources. What the programs need
 * that run before the agent (which NIC to take over, whether by DHCP) is exported from here too.
 */
import { defineEvent, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  InterfaceConfig,
  IpamConfig,
  MainInterfaceConfig,
  NeighborScanConfig,
  NodeInterfaceConfig,
  RoutingConfig,
  StnConfig,
} from './settings.ts';

export { contivConfigFile } from './config.ts';
export { checkContivConfig as readContivConfig } from './config-check.ts';
export { dpdkNics } from './dpdk-nics.ts';
export { effectiveOptions } from './effective-config.ts';
export { type ConfigSources, firstHostNic, resolveNode, stolenNic } from './node-settings.ts';
export type * from './settings.ts';

/** As of the last resync; what stands in the file is there from the beginning. */
export interface ContivConfApi {
  useIpv6(): boolean;
  mainInterface(): MainInterfaceConfig;
  otherInterfaces(): readonly NodeInterfaceConfig[];
  /** Plain address; empty when there is none. */
  defaultGateway(): string;
  natExternalTraffic(): boolean;
  /** undefined: no NIC of the host is taken over. */
  stn(): StnConfig | undefined;
  interfaces(): InterfaceConfig;
  routing(): RoutingConfig;
  ipam(): IpamConfig;
  neighborScan(): NeighborScanConfig;
  /** Whether VPP shall remember the way of packets, for debugging. */
  packetTrace(): boolean;
}

/** The NodeConfig of this node changed: everything that was derived from it is calculated anew. */
export const NodeConfigChange = defineEvent<{ readonly node: string }>({
  id: 'node-config-change',
  blocking: false,
  name: 'Node-specific Configuration Change',
  describe: (payload) => `Node-specific Configuration Change\n* node: ${payload.node}`,
  method: EventMethod.UpstreamResync,
});
