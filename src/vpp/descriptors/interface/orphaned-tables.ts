import type { Logger } from '#infra/log/log.ts';
import type { VppClient } from '../../binapi/api.ts';
import type { SwInterfaceDetails } from '../../binapi/messages.gen.ts';

/** A managed interface that has no address and borrows none. */
export interface AddresslessInterface {
  readonly name: string;
  readonly details: Pick<SwInterfaceDetails, 'sw_if_index'>;
}

/**
 * Moves interfaces without addresses back to table 0. This happens after the last address is deleted;
 * if VPP refused it or the agent crashed in between, no value describes the table any more, and VPP
 * would keep it forever.
 */
export async function resetOrphanedTables(
  client: VppClient,
  log: Logger,
  interfaces: readonly AddresslessInterface[],
): Promise<void> {
  await Promise.all(
    interfaces.flatMap(({ name, details: { sw_if_index } }) =>
      [false, true].map(async (is_ipv6) => {
        const { vrf_id } = await client.request('sw_interface_get_table', { sw_if_index, is_ipv6 });
        if (vrf_id === 0) return;
        log.warn({ name, vrf: vrf_id }, 'moving an interface without addresses back to table 0');
        await client.request('sw_interface_set_table', { sw_if_index, is_ipv6, vrf_id: 0 });
      }),
    ),
  );
}
