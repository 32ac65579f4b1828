import type { Slices } from '#infra/clock/slices.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { PodId } from '#plugins/podmanager/api.ts';

/** A Pod record that contains an address. */
export interface PodRecordRef {
  readonly pod: PodId;
  readonly podUid: string | undefined;
}

/** Addresses in the Pod records of the cluster that are in the subnet of this node. */
export class PodRecordAddresses {
  /** Address to key of the Pod record. */
  readonly #byAddress = new Map<string, Map<string, PodRecordRef>>();
  readonly #byPod = new Map<string, readonly string[]>();
  readonly #isLocal: (address: string) => boolean;

  constructor(isLocal: (address: string) => boolean) {
    this.#isLocal = isLocal;
  }

  /** Reads the state of the cluster. */
  static async read(
    state: KubeState,
    isLocal: (address: string) => boolean,
    slices: Slices,
  ): Promise<PodRecordAddresses> {
    const addresses = new PodRecordAddresses(isLocal);
    for (const [key, value] of state.get('pod') ?? []) {
      addresses.set(key, value);
      if (slices.due()) await slices.turn();
    }
    return addresses;
  }

  has(address: string): boolean {
    return this.#byAddress.has(address);
  }

  addresses(): IterableIterator<string> {
    return this.#byAddress.keys();
  }

  /** Addresses that only the Pod record with this key contains. */
  onlyInRecord(key: string): readonly string[] {
    return (this.#byPod.get(key) ?? []).filter(
      (address) => this.#byAddress.get(address)!.size === 1,
    );
  }

  /** Of the records that contain the address, the first one in the order of the keys. */
  firstRecordOf(address: string): PodRecordRef | undefined {
    const records = this.#byAddress.get(address);
    if (!records) return undefined;
    let first: string | undefined;
    for (const key of records.keys()) if (first === undefined || key < first) first = key;
    return records.get(first!);
  }

  /**
   * Applies a change of a Pod record.
   * @param value canonical Pod; undefined if the record was deleted
   * @returns addresses that the record contained before or contains now
   */
  set(key: string, value: object | undefined): readonly string[] {
    const before = this.#byPod.get(key) ?? [];
    for (const address of before) {
      const records = this.#byAddress.get(address)!;
      records.delete(key);
      if (records.size === 0) this.#byAddress.delete(address);
    }
    const pod = value as Pod | undefined;
    const now = pod ? this.#addressesOf(pod) : [];
    if (pod && now.length > 0) {
      const by = {
        pod: { namespace: pod.namespace, name: pod.name },
        podUid: pod.uid || undefined,
      };
      for (const address of now)
        this.#byAddress.set(address, (this.#byAddress.get(address) ?? new Map()).set(key, by));
      this.#byPod.set(key, now);
    } else this.#byPod.delete(key);
    return [...new Set([...before, ...now])];
  }

  #addressesOf(pod: Pod): string[] {
    return [...new Set([pod.ip_address, ...pod.ip_addresses])].filter(
      (address) => address !== '' && this.#isLocal(address),
    );
  }
}
