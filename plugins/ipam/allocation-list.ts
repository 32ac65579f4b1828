import { SharedMap } from '#infra/collections/shared-map.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import type { AddressRecord } from './address-record.ts';
import type { Allocation } from './api.ts';
import type { PodRecordAddresses } from './pod-record-addresses.ts';

/**
 * The addresses that are in use, by address: those with a record, and those that only Pod records contain.
 * @param owned addresses of each attachment that owns some
 */
export function allocationList(
  records: readonly AddressRecord[],
  owned: ReadonlyMap<AttachmentId, readonly string[]>,
  podRecords: PodRecordAddresses | undefined,
): SharedMap<string, Allocation> {
  const allocations = new SharedMap<string, Allocation>();
  for (const { address, pod, podUid, attachment } of records) {
    const holds = attachment !== '' && (owned.get(attachment)?.includes(address) ?? false);
    const holder = holds ? attachment : undefined;
    allocations.set(address, { address, pod, podUid, attachment: holder });
  }
  for (const address of podRecords?.addresses() ?? []) {
    if (allocations.has(address)) continue;
    allocations.set(address, {
      address,
      ...podRecords!.firstRecordOf(address)!,
      attachment: undefined,
    });
  }
  return allocations;
}
