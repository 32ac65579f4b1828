import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { interfaceAddressKey, interfaceVrfKey, unnumberedKey } from '#models/vpp/derived.ts';
import { InterfaceUnnumbered } from '#models/vpp/interface.gen.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import type { VppDescriptorOptions } from '../options.ts';

/** An interface that borrows its address from another one; read back with the interface. */
export function unnumberedInterfaceDescriptor({
  client,
}: VppDescriptorOptions): KvDescriptor<InterfaceUnnumbered, undefined> {
  const set = (
    key: string,
    value: InterfaceUnnumbered,
    isAdd: boolean,
    ctx: OperationContext,
  ): Promise<unknown> => {
    const index = (name: string): number =>
      ctx.metadata<VppInterfaceMetadata>(vppInterfaceKey.build({ name })).swIfIndex;
    return client.request('sw_interface_set_unnumbered', {
      // in this message the first one is the lender
      sw_if_index: index(value.interface_with_ip),
      unnumbered_sw_if_index: index(ifaceOf(key)),
      is_add: isAdd,
    });
  };
  return defineInternalDescriptor(
    'vpp-unnumbered-interface',
    { keys: [unnumberedKey], valueType: InterfaceUnnumbered },
    {
      dependencies: (key, { interface_with_ip: lender }) => [
        { label: 'lending-interface-exists', key: vppInterfaceKey.build({ name: lender }) },
        // a configured address, or one from DHCP
        {
          label: 'lending-interface-has-address',
          anyOf: { prefixes: [interfaceAddressKey.prefix({ iface: lender })] },
        },
        {
          label: 'interface-assigned-to-vrf-table',
          anyOf: { prefixes: [interfaceVrfKey.prefix({ iface: ifaceOf(key) })] },
        },
      ],
      async create(key, value, ctx) {
        await set(key, value, true, ctx);
        return undefined;
      },
      delete: (key, value, _metadata, ctx) => ignoreNotFound(set(key, value, false, ctx)),
    },
  );
}

function ifaceOf(key: string): string {
  return unnumberedKey.parse(key)?.iface ?? '';
}
