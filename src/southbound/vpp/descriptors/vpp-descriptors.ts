import type { Clock } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { AnyDescriptor } from '#kvscheduler/api.ts';
import type { VppClient } from '../binapi/api.ts';
import { aclDescriptors } from './acl/descriptors.ts';
import { arpDescriptor } from './arp.ts';
import { bridgeDomainDescriptor } from './bridge-domain.ts';
import { bridgedInterfaceDescriptor } from './bridged-interface.ts';
import { dhcpClientDescriptor } from './dhcp-client.ts';
import { dhcpLeaseDescriptor } from './dhcp-lease.ts';
import { fibEntryDescriptor } from './fib-entry.ts';
import { interfaceDescriptor } from './interface.ts';
import { interfaceAddressDescriptor } from './interface-address.ts';
import { interfaceHasAddressDescriptor } from './interface-has-address.ts';
import { linkStateDescriptor } from './interface-link-state.ts';
import { interfaceRxModeDescriptor } from './interface-rx-mode.ts';
import { interfaceRxPlacementDescriptor } from './interface-rx-placement.ts';
import { interfaceVrfDescriptor } from './interface-vrf.ts';
import { ipRedirectDescriptor } from './ip-redirect.ts';
import { ipScanNeighborDescriptor } from './ip-scan-neighbor.ts';
import { nat44Descriptors } from './nat44/descriptors.ts';
import { proxyArpDescriptor } from './proxy-arp.ts';
import { proxyArpInterfaceDescriptor } from './proxy-arp-interface.ts';
import { puntToHostDescriptor } from './punt-to-host.ts';
import { routeDescriptor } from './route.ts';
import { stnRuleDescriptor } from './stn-rule.ts';
import { unnumberedInterfaceDescriptor } from './unnumbered-interface.ts';
import { vrfTableDescriptor } from './vrf-table.ts';
import { xConnectDescriptor } from './xconnect.ts';

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
