import type { Slices } from '#infra/clock/slices.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { PodId } from '#plugins/podmanager/api.ts';

/** A Pod record that shows an address. */
export interface PodRecordRef {
  readonly pod: PodId;
  readonly podUid: string | undefined;
}

/** Which addresses the Pod records of the cluster show, as far as they lie in this node's subnet. */
export class PodRecordAddresses {
  /** Address to key of the Pod record. */
  readonly #byAddress = new Map<string, Map<string, PodRecordRef>>();
  readonly #byPod = new Map<string, readonly string[]>();
  readonly #isLocal: (address: string) => boolean;

  constructor(ours: (address: string) => boolean) {
    this.#isLocal = ours;
  }

  /** Reads the state of the cluster. */
  static async read(
    state: KubeState,
    ours: (address: string) => boolean,
    slices: Slices,
  ): Promise<PodRecordAddresses> {
    const shown = new PodRecordAddresses(ours);
    for (const [key, value] of state.get('pod') ?? []) {
      shown.set(key, value);
      if (slices.due()) await slices.turn();
    }
    return shown;
  }

  has(address: string): boolean {
    return this.#byAddress.has(address);
  }

  addresses(): IterableIterator<string> {
    return this.#byAddress.keys();
  }

  /** Addresses that the Pod record under this key shows, and no other. */
  onlyInRecord(key: string): readonly string[] {
    return (this.#byPod.get(key) ?? []).filter(
      (address) => this.#byAddress.get(address)!.size === 1,
    );
  }

  /** Of the records that show the address the first by its key, whichever came first. */
  firstRecordOf(address: string): PodRecordRef | undefined {
    const records = this.#byAddress.get(address);
    if (!records) return undefined;
    let first: string | undefined;
    for (const key of records.keys()) if (first === undefined || key < first) first = key;
    return records.get(first!);
  }

  /**
   * Takes a change of a Pod record in.
   * @param value canonical Pod; undefined when the record is gone
   * @returns addresses that the record showed before or shows now
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
