import type { Clock } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import type { VppClient } from '../binapi/api.ts';
import { aclDescriptors } from './acl/descriptors.ts';
import { interfaceAddressDescriptor } from './interface/address.ts';
import { dhcpClientDescriptor } from './interface/dhcp-client.ts';
import { dhcpLeaseDescriptor } from './interface/dhcp-lease.ts';
import { interfaceHasAddressDescriptor } from './interface/has-address.ts';
import { interfaceDescriptor } from './interface/interface.ts';
import { linkStateDescriptor } from './interface/link-state.ts';
import { interfaceRxModeDescriptor } from './interface/rx-mode.ts';
import { interfaceRxPlacementDescriptor } from './interface/rx-placement.ts';
import { unnumberedInterfaceDescriptor } from './interface/unnumbered.ts';
import { interfaceVrfDescriptor } from './interface/vrf.ts';
import { bridgeDomainDescriptor } from './l2/bridge-domain.ts';
import { bridgedInterfaceDescriptor } from './l2/bridged-interface.ts';
import { fibEntryDescriptor } from './l2/fib-entry.ts';
import { xConnectDescriptor } from './l2/xconnect.ts';
import { arpDescriptor } from './l3/arp.ts';
import { ipScanNeighborDescriptor } from './l3/ip-scan-neighbor.ts';
import { proxyArpDescriptor } from './l3/proxy-arp.ts';
import { proxyArpInterfaceDescriptor } from './l3/proxy-arp-interface.ts';
import { routeDescriptor } from './l3/route.ts';
import { stnRuleDescriptor } from './l3/stn-rule.ts';
import { vrfTableDescriptor } from './l3/vrf-table.ts';
import { nat44Descriptors } from './nat44/descriptors.ts';
import { ipRedirectDescriptor } from './punt/ip-redirect.ts';
import { puntToHostDescriptor } from './punt/punt-to-host.ts';

/** All descriptors of what VPP is configured with. */
export function vppDescriptors(needs: {
  readonly client: VppClient;
  readonly clock: Clock;
  readonly log: Logger;
}): readonly AnyDescriptor[] {
  const { client, clock, log } = needs;
  return [
    interfaceDescriptor({ client, clock, log }),
    interfaceAddressDescriptor(client),
    interfaceVrfDescriptor(client, log),
    interfaceHasAddressDescriptor(),
    unnumberedInterfaceDescriptor(client),
    interfaceRxModeDescriptor(client),
    interfaceRxPlacementDescriptor(client),
    linkStateDescriptor(client),
    dhcpClientDescriptor(client),
    dhcpLeaseDescriptor(client),
    vrfTableDescriptor(client, log),
    routeDescriptor(client, clock),
    arpDescriptor(client, clock),
    ipScanNeighborDescriptor(client, log),
    bridgeDomainDescriptor(client, log),
    bridgedInterfaceDescriptor(client),
    xConnectDescriptor(client),
    proxyArpDescriptor(client, log),
    proxyArpInterfaceDescriptor(client),
    fibEntryDescriptor(client, clock),
    ...nat44Descriptors({ client, clock, log }),
    ...aclDescriptors({ client, clock }),
    stnRuleDescriptor(client),
    ipRedirectDescriptor(client, log),
    puntToHostDescriptor(client, log),
  ];
}
