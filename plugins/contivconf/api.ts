/**
 * The effective configuration of the node, resolved from all sources. Also exports the functions
 * for programs that run before the agent (which NIC to take over, whether it uses DHCP).
 */
import { defineEvent, EventMethod } from '#plugins/controller/api/event.ts';
import type { NatOfIpv6 } from './config.ts';
import type {
  InterfaceConfig,
  IpamConfig,
  MainInterfaceConfig,
  NeighborScanConfig,
  NodeInterfaceConfig,
  RoutingConfig,
  StnConfig,
  WireguardConfig,
} from './settings.ts';
import type { NodeConfigVerdict } from './verdict.ts';

export { type ContivConfig, contivConfigFile } from './config.ts';
export { checkContivConfig as readContivConfig } from './config-check.ts';
export { dpdkNics } from './dpdk-nics.ts';
export { type EffectiveOption, effectiveOptions } from './effective-config.ts';
export { ipamConfig } from './global-settings.ts';
export type { NodeConfigGate } from './node-config-gate.ts';
export { nodePrefixLength } from './node-prefix-length.ts';
export { addressList } from './node-section.ts';
export { type ConfigSources, firstHostNic, resolveNode, stolenNic } from './node-settings.ts';
export type * from './settings.ts';
export { podFamilies } from './subnet-problems.ts';
export { VALID_NODE_CONFIG_KEY } from './valid-node-config.ts';
export type { NodeConfigVerdict } from './verdict.ts';

/** As of the last resync; values of the file are available before it. */
export interface ContivConfApi {
  mainInterface(): MainInterfaceConfig;
  otherInterfaces(): readonly NodeInterfaceConfig[];
  /** At most one of each family, without prefix length; with DHCP, that of IPv4 is in the lease. */
  defaultGateways(): readonly string[];
  natExternalTraffic(): boolean;
  natExternalTrafficIPv6(): NatOfIpv6;
  /** Whether the configuration asks for services by segment routing, which is not supported. */
  useSrv6ForServices(): boolean;
  /** undefined: VPP takes over no NIC of the host. */
  stn(): StnConfig | undefined;
  interfaces(): InterfaceConfig;
  routing(): RoutingConfig;
  wireguard(): WireguardConfig;
  ipam(): IpamConfig;
  neighborScan(): NeighborScanConfig;
  /** Whether packet tracing in VPP is enabled, for debugging. */
  packetTrace(): boolean;
  /** undefined: the node has no NodeConfig. */
  nodeConfigVerdict(): NodeConfigVerdict | undefined;
}

/** The NodeConfig of this node changed: all derived values are recalculated. */
export const NodeConfigChange = defineEvent<{ readonly node: string }>({
  id: 'node-config-change',
  blocking: false,
  name: 'Node-specific Configuration Change',
  describe: (payload) => `Node-specific Configuration Change\n* node: ${payload.node}`,
  method: EventMethod.UpstreamResync,
});
