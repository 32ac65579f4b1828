import type { Leftover } from '#kvscheduler/api/descriptor.ts';
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { xConnectModel } from '#models/vpp/xconnect.ts';
import type { VppClient } from '../../binapi/api.ts';
import { L2PortType } from '../../binapi/enums.gen.ts';
import type { BridgeDomainDetails } from '../../binapi/messages.gen.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { NONE } from '../limits.ts';

/**
 * Managed interfaces in unmanaged bridge domains, which no value desires: a bridged interface does not route
 * packets.
 * @param managed names by sw_if_index
 */
export function unmanagedMemberships(
  client: VppClient,
  unmanaged: readonly BridgeDomainDetails[],
  managed: ReadonlyMap<number, string>,
): readonly Leftover[] {
  return unmanaged.flatMap(({ bd_id, sw_if_details }) =>
    sw_if_details.flatMap(({ sw_if_index, shg }): Leftover[] => {
      const name = managed.get(sw_if_index);
      if (name === undefined) return [];
      return [
        {
          name: `member/${bd_id}/${name}`,
          what: `the interface ${name} is in the unmanaged bridge domain ${bd_id}`,
          of: vppInterfaceKey.build({ name }),
          precedes: [bridgeDomainModel.keyPrefix, 'vpp/bd/', xConnectModel.keyPrefix],
          remove: () => takeOut(client, { bd_id, sw_if_index, shg }),
        },
      ];
    }),
  );
}

/** In VPP this takes the interface out of any domain, also out of one that it has joined meanwhile. */
async function takeOut(
  client: VppClient,
  { bd_id, sw_if_index, shg }: { bd_id: number; sw_if_index: number; shg: number },
): Promise<void> {
  const domains = await client.dump('bridge_domain_dump', { bd_id, sw_if_index: NONE });
  const members = domains.flatMap(({ sw_if_details }) => sw_if_details);
  if (!members.some((one) => one.sw_if_index === sw_if_index)) return;
  await ignoreNotFound(
    client.request('sw_interface_set_l2_bridge', {
      rx_sw_if_index: sw_if_index,
      bd_id,
      port_type: L2PortType.L2_API_PORT_TYPE_NORMAL,
      shg,
      enable: false,
    }),
  );
}
