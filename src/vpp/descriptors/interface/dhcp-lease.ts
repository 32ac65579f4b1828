import { defineInternalDescriptor, emptyValue } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { interfaceAddressKey } from '#models/vpp/derived.ts';
import { type DHCPLease, dhcpLeaseKey, dhcpLeaseModel } from '#models/vpp/interface-state.ts';
import { interfaceNames } from '../names-by-index.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { type FoundLease, readDhcpClients } from './dhcp-dump.ts';

/** The lease with the logical name of its interface. */
export function dhcpLease(name: string, found: FoundLease): DHCPLease {
  return dhcpLeaseModel.canonical({
    interface_name: name,
    host_name: found.hostName,
    is_ipv6: false,
    host_phys_address: found.mac,
    host_ip_address: found.address,
    router_ip_address: found.router,
  });
}

/**
 * Leases of VPP's DHCP clients: reported, never created. VPP sets the address of a lease by itself; the
 * derived address meets the dependencies of other values.
 */
export function dhcpLeaseDescriptor({
  client,
}: VppDescriptorOptions): KvDescriptor<DHCPLease, DHCPLease> {
  return defineInternalDescriptor(
    'vpp-dhcp-lease',
    { keys: [dhcpLeaseKey], valueType: dhcpLeaseModel },
    {
      label: (key) => key.slice(dhcpLeaseModel.keyPrefix.length),
      retrieveDependencies: ['vpp-interface'],
      derived: (_key, { interface_name: iface, host_ip_address: address }) => [
        {
          key: interfaceAddressKey.build({ iface, source: 'from_dhcp', address }),
          value: emptyValue,
        },
      ],
      async retrieve(_correlate, ctx) {
        const names = interfaceNames(ctx);
        const clients = await readDhcpClients(client);
        return [...clients].flatMap(([swIfIndex, found]) => {
          const iface = names.get(swIfIndex);
          if (iface === undefined || found === undefined) return [];
          const value = dhcpLease(iface, found);
          const key = dhcpLeaseKey.build({ iface });
          return [{ key, value, metadata: value, origin: 'from-SB' as const }];
        });
      },
    },
  );
}
