import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import { aclModel } from '#models/vpp/acl.ts';
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { dnat44Model } from '#models/vpp/dnat44.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { aclDescriptor } from './acl/acl.ts';
import { aclToInterfaceDescriptor } from './acl/acl-to-interface.ts';
import { AclBindings } from './acl/bindings.ts';
import { SessionCounters } from './cnat/session-counters.ts';
import { cnatSourceNatDescriptor } from './cnat/source-nat.ts';
import { cnatTranslationDescriptor } from './cnat/translation.ts';
import { flowExporterDescriptor } from './flows/exporter.ts';
import { flowProbeDescriptor } from './flows/probe.ts';
import { interfaceAddressDescriptor } from './interface/address.ts';
import { bandwidthLimitDescriptor } from './interface/bandwidth-limit.ts';
import { dhcpClientDescriptor } from './interface/dhcp-client.ts';
import { dhcpLeaseDescriptor } from './interface/dhcp-lease.ts';
import { interfaceHasAddressDescriptor } from './interface/has-address.ts';
import { interfaceDescriptor } from './interface/interface.ts';
import { linkStateDescriptor } from './interface/link-state.ts';
import { interfaceNetworkDescriptor } from './interface/network.ts';
import { interfaceRxModeDescriptor } from './interface/rx-mode.ts';
import { interfaceRxPlacementDescriptor } from './interface/rx-placement.ts';
import { segmentationDescriptor } from './interface/segmentation.ts';
import { handlerOf } from './interface/types/registry.ts';
import { unnumberedInterfaceDescriptor } from './interface/unnumbered.ts';
import { interfaceVrfDescriptor } from './interface/vrf.ts';
import { bridgeDomainDescriptor } from './l2/bridge-domain.ts';
import { bridgedInterfaceDescriptor } from './l2/bridged-interface.ts';
import { fibEntryDescriptor } from './l2/fib-entry.ts';
import { xConnectDescriptor } from './l2/xconnect.ts';
import { arpDescriptor } from './l3/arp.ts';
import { ipScanNeighborDescriptor } from './l3/ip-scan-neighbor.ts';
import { LearnedNeighbors } from './l3/learned-neighbors.ts';
import { proxyArpDescriptor } from './l3/proxy-arp.ts';
import { proxyArpInterfaceDescriptor } from './l3/proxy-arp-interface.ts';
import { routeDescriptor } from './l3/route.ts';
import { stnRuleDescriptor } from './l3/stn-rule.ts';
import { vrfTableDescriptor } from './l3/vrf-table.ts';
import { allKeys, type ManagedKeys, type NamedObjects, withRecords } from './managed-keys.ts';
import { nat44AddressPoolDescriptor } from './nat44/address-pool.ts';
import { dnat44Descriptor } from './nat44/dnat.ts';
import { nat44GlobalDescriptor } from './nat44/global.ts';
import {
  nat44GlobalAddressDescriptor,
  nat44GlobalInterfaceDescriptor,
} from './nat44/global-entries.ts';
import { nat44InterfaceDescriptor } from './nat44/interface.ts';
import { nat44TableLimitDescriptor } from './nat44/table-limits.ts';
import type { VppDescriptorOptions } from './options.ts';
import { ipRedirectDescriptor } from './punt/ip-redirect.ts';
import { puntToHostDescriptor } from './punt/punt-to-host.ts';
import { wireguardPeerDescriptor } from './wireguard/peer.ts';

type Factory = (options: VppDescriptorOptions) => AnyDescriptor;

/** Every descriptor of VPP is registered here. */
const factories: readonly Factory[] = [
  interfaceDescriptor,
  interfaceAddressDescriptor,
  interfaceVrfDescriptor,
  interfaceHasAddressDescriptor,
  interfaceNetworkDescriptor,
  unnumberedInterfaceDescriptor,
  interfaceRxModeDescriptor,
  interfaceRxPlacementDescriptor,
  segmentationDescriptor,
  bandwidthLimitDescriptor,
  flowExporterDescriptor,
  flowProbeDescriptor,
  wireguardPeerDescriptor,
  linkStateDescriptor,
  dhcpClientDescriptor,
  dhcpLeaseDescriptor,
  vrfTableDescriptor,
  routeDescriptor,
  arpDescriptor,
  ipScanNeighborDescriptor,
  bridgeDomainDescriptor,
  bridgedInterfaceDescriptor,
  xConnectDescriptor,
  proxyArpDescriptor,
  proxyArpInterfaceDescriptor,
  fibEntryDescriptor,
  nat44GlobalDescriptor,
  nat44GlobalInterfaceDescriptor,
  nat44GlobalAddressDescriptor,
  nat44TableLimitDescriptor,
  nat44InterfaceDescriptor,
  nat44AddressPoolDescriptor,
  dnat44Descriptor,
  cnatTranslationDescriptor,
  cnatSourceNatDescriptor,
  aclDescriptor,
  aclToInterfaceDescriptor,
  stnRuleDescriptor,
  ipRedirectDescriptor,
  puntToHostDescriptor,
];

/** Descriptors that recognize managed objects by a name, which an operator may give as well. */
const namedObjects = new Map<Factory, NamedObjects<never>>([
  [
    interfaceDescriptor,
    {
      keyOf: vppInterfaceModel.key,
      identityOf: (value: VppInterface) => handlerOf(value.type)?.identity(value) ?? '',
    },
  ],
  [vrfTableDescriptor, { keyOf: vrfTableModel.key, identityOf: () => '' }],
  [bridgeDomainDescriptor, { keyOf: bridgeDomainModel.key, identityOf: () => '' }],
  [dnat44Descriptor, { keyOf: dnat44Model.key, identityOf: () => '' }],
  [aclDescriptor, { keyOf: aclModel.key, identityOf: () => '' }],
]);

/**
 * New descriptors of all that the agent configures in VPP.
 * @param options without `managedKeys`, every object with a name is managed
 */
export function vppDescriptors(
  options: Omit<
    VppDescriptorOptions,
    'aclBindings' | 'learnedNeighbors' | 'sessionCounters' | 'managedKeys'
  > & {
    readonly managedKeys?: ManagedKeys;
  },
): readonly AnyDescriptor[] {
  const shared = {
    ...options,
    aclBindings: new AclBindings(options.client),
    learnedNeighbors: new LearnedNeighbors(),
    sessionCounters: new SessionCounters(options.client),
    managedKeys: options.managedKeys ?? allKeys,
  };
  const incarnation = (): number => options.client.generation;
  return factories.map((create) => {
    const descriptor = { ...create(shared), incarnation };
    const named = namedObjects.get(create);
    return named ? withRecords(shared.managedKeys, descriptor, named) : descriptor;
  });
}
