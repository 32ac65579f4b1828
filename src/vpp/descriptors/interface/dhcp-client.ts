import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { dhcpClientKey, interfaceVrfKey } from '#models/vpp/derived.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { ignoreRetvals } from '../ignored-retvals.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { tagOf } from '../tags.ts';

/** Of an add: the interface has a client. Of a delete: it has none. */
const INVALID_VALUE = -7;
const NO_SUCH_INTERFACE = -2;

/** Run-time data of a client. Its appearance tells listeners to read the leases. */
export interface DhcpClientMetadata {
  readonly swIfIndex: number;
}

/**
 * A DHCP client of an interface; read back with the interface. It must be deleted before its
 * interface: VPP keeps it under the index of a deleted interface, and the next interface with that index
 * would get it.
 */
export function dhcpClientDescriptor({
  client,
}: VppDescriptorOptions): KvDescriptor<object, DhcpClientMetadata> {
  const indexOf = (key: string, ctx: OperationContext): number =>
    ctx.metadata<VppInterfaceMetadata>(vppInterfaceKey.build({ name: ifaceOf(key) })).swIfIndex;
  const configure = (key: string, sw_if_index: number, is_add: boolean): Promise<unknown> =>
    client.request('dhcp_client_config', {
      is_add,
      client: {
        sw_if_index,
        hostname: tagOf(ifaceOf(key)),
        id: new Uint8Array(64),
        want_dhcp_event: true,
        set_broadcast_flag: false,
        dscp: 0,
        pid: 0,
      },
    });
  return defineInternalDescriptor(
    'vpp-dhcp',
    { keys: [dhcpClientKey] },
    {
      label: ifaceOf,
      // VPP adds the address of a lease to the table of the interface
      dependencies: (key) => {
        const prefixes = [interfaceVrfKey.prefix({ iface: ifaceOf(key) })];
        return [{ label: 'interface-assigned-to-vrf-table', anyOf: { prefixes } }];
      },
      async create(key, _value, ctx) {
        const swIfIndex = indexOf(key, ctx);
        await ignoreRetvals(configure(key, swIfIndex, true), [INVALID_VALUE]);
        return { swIfIndex };
      },
      async delete(key, _value, _metadata, ctx) {
        const request = configure(key, indexOf(key, ctx), false);
        await ignoreRetvals(request, [INVALID_VALUE, NO_SUCH_INTERFACE]);
      },
    },
  );
}

function ifaceOf(key: string): string {
  return dhcpClientKey.parse(key)?.iface ?? '';
}
