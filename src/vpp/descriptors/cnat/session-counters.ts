import type { VppClient } from '../../binapi/api.ts';
import { setPolicy, UNUSED_ADDRESS } from './source-nat-policy.ts';

/** VPP numbers its tables one after the other, and a node has ten. */
const TABLES = 1024;

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

  /** Once per start of VPP, before the first translation or source NAT. */
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
    const index = TABLES - 1;
    const remove = () => setPolicy(this.#client, index, undefined);
    try {
      await Promise.all([setPolicy(this.#client, index, UNUSED_ADDRESS), remove()]);
    } catch (thrown) {
      // VPP may have refused the second message alone
      await remove().catch(() => undefined);
      throw thrown;
    }
  }
}
