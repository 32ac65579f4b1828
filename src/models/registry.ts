/** All models with keys under `config/`. */
import type { MessageModel } from './define.ts';
import { linuxArpModel } from './linux/arp.ts';
import { linuxInterfaceModel } from './linux/interface.ts';
import { linuxRouteModel } from './linux/route.ts';
import { serviceLinkModel } from './linux/service-link.ts';
import { socketExemptionModel } from './linux/socket-exemption.ts';
import { socketNodeAddressModel } from './linux/socket-node-address.ts';
import { socketServiceModel } from './linux/socket-service.ts';
import { aclModel } from './vpp/acl.ts';
import { vppArpModel } from './vpp/arp.ts';
import { bandwidthLimitModel } from './vpp/bandwidth-limit.ts';
import { bridgeDomainModel } from './vpp/bridge-domain.ts';
import { cnatSourceNatModel } from './vpp/cnat-source-nat.ts';
import { cnatTranslationModel } from './vpp/cnat-translation.ts';
import { dnat44Model } from './vpp/dnat44.ts';
import { fibEntryModel } from './vpp/fib-entry.ts';
import { flowExporterModel } from './vpp/flow-exporter.ts';
import { flowProbeModel } from './vpp/flow-probe.ts';
import { vppInterfaceModel } from './vpp/interface.ts';
import { ipRedirectModel } from './vpp/ip-redirect.ts';
import { ipScanNeighborModel } from './vpp/ip-scan-neighbor.ts';
import { nat44AddressPoolModel } from './vpp/nat44-address-pool.ts';
import { nat44GlobalModel } from './vpp/nat44-global.ts';
import { nat44InterfaceModel } from './vpp/nat44-interface.ts';
import { proxyArpModel } from './vpp/proxy-arp.ts';
import { puntToHostModel } from './vpp/punt-to-host.ts';
import { vppRouteModel } from './vpp/route.ts';
import { segmentationModel } from './vpp/segmentation.ts';
import { stnRuleModel } from './vpp/stn-rule.ts';
import { vrfTableModel } from './vpp/vrf-table.ts';
import { wireguardPeerModel } from './vpp/wireguard-peer.ts';
import { xConnectModel } from './vpp/xconnect.ts';

// biome-ignore lint/suspicious/noExplicitAny: models of many value types are in one list
export type ConfigModel = MessageModel<any>;

export const configModels: readonly ConfigModel[] = [
  vppInterfaceModel,
  segmentationModel,
  bandwidthLimitModel,
  wireguardPeerModel,
  flowExporterModel,
  flowProbeModel,
  bridgeDomainModel,
  fibEntryModel,
  xConnectModel,
  vrfTableModel,
  vppRouteModel,
  vppArpModel,
  proxyArpModel,
  ipScanNeighborModel,
  aclModel,
  nat44GlobalModel,
  nat44InterfaceModel,
  nat44AddressPoolModel,
  dnat44Model,
  cnatSourceNatModel,
  cnatTranslationModel,
  stnRuleModel,
  ipRedirectModel,
  puntToHostModel,
  linuxInterfaceModel,
  linuxRouteModel,
  linuxArpModel,
  socketServiceModel,
  socketNodeAddressModel,
  serviceLinkModel,
  socketExemptionModel,
];

const byPrefix = new Map(configModels.map((model) => [model.keyPrefix, model]));
const byType = new Map(configModels.map((model) => [model.typeName, model]));

/** The model of a key (without agent prefix); undefined for keys without a model. */
export function modelOfKey(key: string): ConfigModel | undefined {
  for (let slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) {
    const model = byPrefix.get(key.slice(0, slash + 1));
    if (model !== undefined) return model;
  }
  return byPrefix.get(key);
}

/** @param typeName full protobuf name, `ligato.vpp.l3.Route` */
export function modelOfType(typeName: string): ConfigModel | undefined {
  return byType.get(typeName);
}
