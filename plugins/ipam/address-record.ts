import type { IpFamily } from '#models/ip.ts';
import type { AttachmentId, PodId } from '#plugins/podmanager/api.ts';

export const ADDRESS_PREFIX = 'local/ipam/address/';
/** Records that could not be read, kept for the analysis. */
export const INVALID_PREFIX = 'local/ipam/invalid/';
/** The last allocated address of the primary family. */
export const LAST_KEY = 'local/ipam/last';

/** Key of the last allocated address of another family than the primary one. */
export function lastKey(family: IpFamily): string {
  return `${LAST_KEY}/${family}`;
}

/** An address in the local store: one record per address, so that none is allocated twice. */
export interface AddressRecord {
  readonly address: string;
  readonly pod: PodId;
  readonly podUid: string | undefined;
  /** Its owner. Empty: none; the address is reserved, because a Pod record contains it. */
  readonly attachment: AttachmentId | '';
  /** Another IPAM allocated it; only that IPAM knows whether it is in use. */
  readonly external?: true;
}

export function addressKey(address: string): string {
  return ADDRESS_PREFIX + address;
}

export function addressRecordText(record: AddressRecord): string {
  return JSON.stringify(record);
}

/** @returns undefined for a text that is not a record of this address */
export function readAddressRecord(key: string, text: string): AddressRecord | undefined {
  let value: Partial<AddressRecord> | null;
  try {
    value = JSON.parse(text) as Partial<AddressRecord> | null;
  } catch {
    return undefined;
  }
  const texts = [value?.address, value?.attachment, value?.pod?.name, value?.pod?.namespace];
  if (!value || !texts.every((part) => typeof part === 'string')) return undefined;
  if (key !== addressKey(value.address!)) return undefined;
  const { address, pod, podUid, attachment, external } = value as AddressRecord;
  return {
    address,
    pod: { namespace: pod.namespace, name: pod.name },
    podUid,
    attachment,
    ...(external && { external }),
  };
}
