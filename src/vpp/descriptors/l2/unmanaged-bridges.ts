import type { Logger } from '#infra/log/log.ts';
import type { VppClient } from '../../binapi/api.ts';
import { L2PortType } from '../../binapi/enums.gen.ts';
import type { BridgeDomainDetails } from '../../binapi/messages.gen.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';

/**
 * Takes managed interfaces out of unmanaged bridge domains, which no value desires: a bridged interface
 * does not route packets.
 * @param managed names by sw_if_index
 */
export async function leaveUnmanagedBridges(
  client: VppClient,
  log: Logger,
  unmanaged: readonly BridgeDomainDetails[],
  managed: ReadonlyMap<number, string>,
): Promise<void> {
  await Promise.all(
    unmanaged.flatMap(({ bd_id, sw_if_details }) =>
      sw_if_details
        .filter(({ sw_if_index }) => managed.has(sw_if_index))
        .map(({ sw_if_index, shg }) => {
          const name = managed.get(sw_if_index);
          log.warn({ name, bridgeDomain: bd_id }, 'taking an interface out of a bridge domain');
          const request = client.request('sw_interface_set_l2_bridge', {
            rx_sw_if_index: sw_if_index,
            bd_id,
            port_type: L2PortType.L2_API_PORT_TYPE_NORMAL,
            shg,
            enable: false,
          });
          return ignoreNotFound(request);
        }),
    ),
  );
}
