import type { Pod } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { PodId } from './api.ts';

/** The Pod records by address. Pods in the network of their host have its address and are left out. */
export class PodRecordsByAddress {
  readonly #byAddress = new Map<string, Pod>();
  readonly #state: KubeState;

  constructor(state: KubeState) {
    this.#state = state;
    for (const value of state.get('pod')?.values() ?? []) {
      const pod = value as Pod;
      for (const address of new Set([pod.ip_address, ...pod.ip_addresses]))
        if (address !== '' && address !== pod.host_ip_address) this.#byAddress.set(address, pod);
    }
  }

  /** The pod with the address. */
  at(address: string): Pod | undefined {
    return this.#byAddress.get(address);
  }

  entries(): Iterable<[address: string, pod: Pod]> {
    return this.#byAddress;
  }

  /** Whether the pod has a record. */
  has({ name, namespace }: PodId): boolean {
    return this.#state.get('pod')?.has(resources.pod.key(name, namespace)) ?? false;
  }
}
