import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { type XConnectPair, xConnectKey, xConnectModel } from '#models/vpp/xconnect.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { interfaceNames } from '../names-by-index.ts';
import type { VppDescriptorOptions } from '../options.ts';

/**
 * All packets received on one interface are sent on another; the opposite direction is a separate value.
 * VPP keeps a cross-connect of a deleted interface, so it is deleted before either interface.
 */
export function xConnectDescriptor({
  client,
}: VppDescriptorOptions): KvDescriptor<XConnectPair, undefined> {
  const indexOf = (name: string, ctx: OperationContext): number =>
    ctx.metadata<VppInterfaceMetadata>(vppInterfaceKey.build({ name })).swIfIndex;
  const connect = async (value: XConnectPair, ctx: OperationContext): Promise<undefined> => {
    await client.request('sw_interface_set_l2_xconnect', {
      rx_sw_if_index: indexOf(value.receive_interface, ctx),
      tx_sw_if_index: indexOf(value.transmit_interface, ctx),
      enable: true,
    });
    return undefined;
  };

  return defineDescriptor('vpp-xconnect', xConnectModel, {
    retrieveDependencies: ['vpp-interface'],
    validate(key, value) {
      checkField(key, value.receive_interface !== '', 'receive_interface', 'missing');
      checkField(key, value.transmit_interface !== '', 'transmit_interface', 'missing');
    },
    dependencies: (_key, { receive_interface, transmit_interface }) => [
      {
        label: 'receive-interface-exists',
        key: vppInterfaceKey.build({ name: receive_interface }),
      },
      {
        label: 'transmit-interface-exists',
        key: vppInterfaceKey.build({ name: transmit_interface }),
      },
    ],
    // an interface is either a member of a bridge domain or cross-connected
    claims: (_key, { receive_interface }) => [`l2/${receive_interface}`],
    create: (_key, value, ctx) => connect(value, ctx),
    update: (_key, _before, after, _metadata, ctx) => connect(after, ctx),
    async delete(_key, { receive_interface }, _metadata, ctx) {
      const request = client.request('sw_interface_set_l2_xconnect', {
        rx_sw_if_index: indexOf(receive_interface, ctx),
        tx_sw_if_index: 0,
        enable: false,
      });
      await ignoreNotFound(request);
    },

    async retrieve(_correlate, ctx) {
      const names = interfaceNames(ctx);
      const found = await client.dump('l2_xconnect_dump', {});
      return found.flatMap(({ rx_sw_if_index, tx_sw_if_index }) => {
        const rx = names.get(rx_sw_if_index);
        if (rx === undefined) return [];
        const value = xConnectModel.canonical({
          receive_interface: rx,
          transmit_interface: names.get(tx_sw_if_index) ?? '',
        });
        return [{ key: xConnectKey.build({ rx }), value, origin: 'from-NB' as const }];
      });
    },
  });
}
