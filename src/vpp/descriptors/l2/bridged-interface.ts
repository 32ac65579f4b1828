import { allOrNothing } from '#infra/rollback/rollback.ts';
import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { bridgeDomainKey } from '#models/vpp/bridge-domain.ts';
import { bridgedInterfaceKey } from '#models/vpp/derived.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { BridgeDomainInterface } from '#models/vpp/l2.gen.ts';
import type {
  BridgeDomainMetadata,
  VppInterfaceMetadata,
} from '#plugins/controller/api/ports/metadata.ts';
import { L2PortType } from '../../binapi/enums.gen.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import type { VppDescriptorOptions } from '../options.ts';

/** An interface in a bridge domain; read back with the bridge domain. */
export function bridgedInterfaceDescriptor({
  client,
  log,
}: VppDescriptorOptions): KvDescriptor<BridgeDomainInterface, undefined> {
  const set = (
    key: string,
    value: BridgeDomainInterface,
    enable: boolean,
    ctx: OperationContext,
  ): Promise<unknown> => {
    const { bd, iface } = parts(key);
    return client.request('sw_interface_set_l2_bridge', {
      rx_sw_if_index: ctx.metadata<VppInterfaceMetadata>(vppInterfaceKey.build({ name: iface }))
        .swIfIndex,
      bd_id: ctx.metadata<BridgeDomainMetadata>(bridgeDomainKey.build({ name: bd })).bdId,
      port_type: value.bridged_virtual_interface
        ? L2PortType.L2_API_PORT_TYPE_BVI
        : L2PortType.L2_API_PORT_TYPE_NORMAL,
      shg: value.split_horizon_group,
      enable,
    });
  };
  return defineInternalDescriptor(
    'vpp-bd-interface',
    { keys: [bridgedInterfaceKey], valueType: BridgeDomainInterface },
    {
      dependencies: (key) => [
        { label: 'interface-exists', key: vppInterfaceKey.build({ name: parts(key).iface }) },
      ],
      // taking an interface out of one bridge domain takes it out of any: it has to leave before it
      // joins; and a bridge domain has one BVI
      claims: (key, value) => {
        const { bd, iface } = parts(key);
        const membership = `l2/${iface}`;
        return value.bridged_virtual_interface ? [membership, `bvi/${bd}`] : [membership];
      },
      create: (key, value, ctx) =>
        allOrNothing(log, async (undo) => {
          // VPP that refuses a second BVI, such as beside one of an operator, leaves it half in the domain
          undo.add(() => ignoreNotFound(set(key, value, false, ctx)));
          await set(key, value, true, ctx);
          return undefined;
        }),
      delete: (key, value, _metadata, ctx) => ignoreNotFound(set(key, value, false, ctx)),
    },
  );
}

function parts(key: string): { readonly bd: string; readonly iface: string } {
  const parsed = bridgedInterfaceKey.parse(key);
  if (parsed === undefined) throw new TypeError(`${key} is not a key of a bridged interface`);
  return parsed;
}
