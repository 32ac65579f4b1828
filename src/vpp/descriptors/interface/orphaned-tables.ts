import type { Logger } from '#infra/log/log.ts';
import type { VppClient } from '../../binapi/api.ts';
import type { SwInterfaceDetails } from '../../binapi/messages.gen.ts';

/** An interface of ours that has no address and borrows none. */
export interface AddresslessInterface {
  readonly name: string;
  readonly details: Pick<SwInterfaceDetails, 'sw_if_index'>;
}

/**
 * An interface goes back to table 0 after its last address has gone. Where that was refused, or an
 * agent died in between, no value knows of it any more, and VPP would keep the table for good.
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
        log.warn({ name, vrf: vrf_id }, 'take an interface without addresses back to table 0');
        await client.request('sw_interface_set_table', { sw_if_index, is_ipv6, vrf_id: 0 });
      }),
    ),
  );
}
