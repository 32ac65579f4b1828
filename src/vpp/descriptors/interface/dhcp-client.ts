import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { dhcpClientKey, interfaceVrfKey } from '#models/vpp/derived.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { ignoreRetvals } from '../ignored-retvals.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { tagOf } from '../tags.ts';

/** There is a client on the interface already; of a delete: there is none. */
const INVALID_VALUE = -7;
const NO_SUCH_INTERFACE = -2;

/** Run-time data of a client; by its coming and going others see that it is time to look. */
export interface DhcpClientMetadata {
  readonly swIfIndex: number;
}

/**
 * A DHCP client of an interface; read back with the interface. It has to go before its interface:
 * VPP keeps it for the number of an interface that is gone, for whoever gets that number next.
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
      // the address of a lease is put into the table that the interface is in
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
        const gone = configure(key, indexOf(key, ctx), false);
        await ignoreRetvals(gone, [INVALID_VALUE, NO_SUCH_INTERFACE]);
      },
    },
  );
}

function ifaceOf(key: string): string {
  return dhcpClientKey.parse(key)?.iface ?? '';
}
