import type { VppClient } from '../../binapi/api.ts';
import { CnatSnatPolicyFlags } from '../../binapi/enums.gen.ts';
import { NONE } from '../limits.ts';

/** VPP numbers its tables one after the other, and a node has ten. */
const TABLES = 1024;

/** Of a policy that no packet meets: its table does not exist. */
const unusedAddress = Uint8Array.from({ length: 16 }, (_, at) => (at === 15 ? 1 : 0));
const noAddress = new Uint8Array(16);

/**
 * The counters of cnat's sessions, one for each table. VPP has those of table 0, and adds one for each table that an
 * interface joins after its first message of cnat. It does not look whether a counter exists: a packet that reaches a
 * translation by an interface of a table without one is not translated, or changes other memory. A policy for the last
 * table makes VPP add all of them, and they stay when the policy is deleted.
 */
export class SessionCounters {
  readonly #client: VppClient;
  #generation = -1;
  #added: Promise<void> = Promise.resolve();

  constructor(client: VppClient) {
    this.#client = client;
  }

  /** Once per start of VPP, before the first translation. */
  add(): Promise<void> {
    const generation = this.#client.generation;
    if (generation !== this.#generation) {
      this.#generation = generation;
      this.#added = this.#addAll();
      // the caller handles a failure; the next call tries again
      this.#added.catch(() => {
        this.#generation = -1;
      });
    }
    return this.#added;
  }

  async #addAll(): Promise<void> {
    await Promise.all([this.#setPolicy(unusedAddress), this.#setPolicy(noAddress)]);
  }

  /** @param address none: the policy is deleted */
  #setPolicy(address: Uint8Array): Promise<unknown> {
    return this.#client.request('cnat_set_snat_addresses_v2', {
      fwd_fib_index: TABLES - 1,
      ret_fib_index: 0,
      snat_ip4: new Uint8Array(4),
      snat_ip6: address,
      sw_if_index: NONE,
      flags: CnatSnatPolicyFlags.CNAT_SNAT_POLICY_F_NO_CLIENT,
    });
  }
}
