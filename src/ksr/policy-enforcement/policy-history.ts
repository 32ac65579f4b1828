/**
 * The records of ClusterNetworkPolicies in the datastore, and the sets of them that there have been. A node that has applied a set has
 * each policy as it is now, if the policy has not changed since. So one digest of a node answers for all policies.
 */
import { clusterNetworkPolicyModel } from '#kubernetes/models/cluster-network-policy.ts';
import {
  PolicySetDigest,
  policyDigest,
  textDigest,
} from '#kubernetes/models/policy-enforcement.ts';

/** Sets that are remembered; a node that has applied an older one is one about which nothing is known. */
const MAX_SETS = 1_000;

interface PolicyRecord {
  readonly text: string;
  readonly digest: bigint;
  /** Number of the first set with this content. */
  readonly since: number;
}

export class PolicyHistory {
  readonly #records = new Map<string, PolicyRecord>();
  readonly #set = new PolicySetDigest();
  /** By digest, the oldest first: the number of the last set that had it. */
  readonly #numbers = new Map<string, number>();
  #number = 0;

  constructor() {
    this.#remember();
  }

  /** @param text undefined: the record was deleted */
  set(key: string, text: string | undefined): void {
    const before = this.#records.get(key);
    if (before?.text === text) return;
    if (before !== undefined) this.#set.toggle(before.digest);
    this.#number++;
    if (text === undefined) this.#records.delete(key);
    else {
      const digest = digestOf(key, text);
      this.#set.toggle(digest);
      this.#records.set(key, { text, digest, since: this.#number });
    }
    this.#remember();
  }

  /** All records were read; between the last set and this one there may have been others. */
  replace(entries: ReadonlyMap<string, string>): void {
    for (const key of this.#records.keys()) if (!entries.has(key)) this.set(key, undefined);
    for (const [key, text] of entries) this.set(key, text);
  }

  /** The number of the first set with this content of a policy; undefined: the record is another one. */
  since(key: string, text: string): number | undefined {
    const record = this.#records.get(key);
    return record?.text === text ? record.since : undefined;
  }

  /** The number of the last set with this digest; undefined: it is not known. */
  numberOf(digest: string): number | undefined {
    return this.#numbers.get(digest);
  }

  #remember(): void {
    const { text } = this.#set;
    this.#numbers.delete(text);
    this.#numbers.set(text, this.#number);
    const [oldest] = this.#numbers.keys();
    if (this.#numbers.size > MAX_SETS && oldest !== undefined) this.#numbers.delete(oldest);
  }
}

/** Of a record that cannot be read a node has another digest. */
function digestOf(key: string, text: string): bigint {
  try {
    return policyDigest(clusterNetworkPolicyModel.parse(JSON.parse(text), key));
  } catch {
    return textDigest(text);
  }
}
