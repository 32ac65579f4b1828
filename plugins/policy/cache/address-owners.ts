/**
 * Which pods have an address. An address that an attachment of this node has belongs to its pod alone:
 * records of finished pods may contain the addresses that they had.
 */
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import type { AddressNumber } from '../address-set.ts';
import type { PodName } from '../pod-policy.ts';
import type { PodTable } from './pod-table.ts';
import type { PolicyPod } from './policy-pod.ts';

/** A pod of this node, as far as its attachment tells. */
export interface PodAttachment {
  readonly id: AttachmentId;
  readonly pod: PodName;
  /** Empty: an adopted attachment whose pod is unknown. */
  readonly namespace: string;
  readonly podUid: string | undefined;
  readonly addresses: readonly AddressNumber[];
}

/** undefined: a pod of this node whose labels are unknown. */
export type AddressOwner = PolicyPod | undefined;

/** No selector selects pods in the network of the host, hence none has such an address. */
const noOwner: readonly AddressOwner[] = [];

export class AddressOwners {
  readonly #pods: PodTable;
  readonly #byAddress = new Map<AddressNumber, readonly PodAttachment[]>();
  readonly #byPod = new Map<PodName, readonly PodAttachment[]>();

  constructor(pods: PodTable) {
    this.#pods = pods;
  }

  add(attachment: PodAttachment): void {
    this.#byPod.set(attachment.pod, [...this.attachmentsOf(attachment.pod), attachment]);
    for (const address of attachment.addresses)
      this.#byAddress.set(address, [...(this.#byAddress.get(address) ?? []), attachment]);
  }

  delete(attachment: PodAttachment): void {
    removeFrom(this.#byPod, attachment.pod, attachment);
    for (const address of attachment.addresses) removeFrom(this.#byAddress, address, attachment);
  }

  attachmentsOf(pod: PodName): readonly PodAttachment[] {
    return this.#byPod.get(pod) ?? [];
  }

  /** undefined: there is no record of the pod, or that of its predecessor. */
  recordOf({ pod, podUid }: PodAttachment): PolicyPod | undefined {
    const record = this.#pods.get(pod);
    if (record === undefined || !podUid || record.uid === '') return record;
    return record.uid === podUid ? record : undefined;
  }

  ownersOf(address: AddressNumber): readonly AddressOwner[] {
    const attached = this.#byAddress.get(address);
    if (attached !== undefined) return attached.map((one) => this.recordOf(one));
    const found = [...this.#pods.at(address)];
    return found.some(({ isHostNetwork }) => isHostNetwork) ? noOwner : found;
  }

  /** Those of attached pods whose labels are unknown. */
  unknown(): AddressNumber[] {
    const all = [...this.#byPod.values()].flat();
    const unknown = all.filter((one) => this.recordOf(one) === undefined);
    return unknown.flatMap(({ addresses }) => addresses);
  }

  /** Those that the record contains, and those of attachments. */
  addressesOf(name: PodName): AddressNumber[] {
    const addresses = [...(this.#pods.get(name)?.addresses ?? [])];
    for (const attachment of this.attachmentsOf(name)) addresses.push(...attachment.addresses);
    return addresses;
  }
}

function removeFrom<K>(
  map: Map<K, readonly PodAttachment[]>,
  key: K,
  attachment: PodAttachment,
): void {
  const rest = (map.get(key) ?? []).filter((one) => one !== attachment);
  if (rest.length > 0) map.set(key, rest);
  else map.delete(key);
}
