/**
 * The records of all nodes about the ClusterNetworkPolicies that they do not enforce are under one prefix, so that contiv-ksr can
 * watch them without the other records of the agents. Agents do not read them.
 */
import { createHash } from 'node:crypto';
import { defineModel } from '#models/define.ts';
import { keyTemplate } from '#models/key-template.ts';
import { type ClusterNetworkPolicy, clusterNetworkPolicyModel } from './cluster-network-policy.ts';
import { PolicyEnforcement } from './policy-enforcement.gen.ts';

export type {
  PolicyEnforcement,
  PolicyEnforcementRefusal,
} from './policy-enforcement.gen.ts';

/** Key in the datastore, without any other prefix. */
export const policyEnforcementKey = keyTemplate('/vnf-agent/contiv-policyenforcement/{name}', {
  name: '[^/]+',
});

export const policyEnforcementModel = defineModel<PolicyEnforcement>({
  message: PolicyEnforcement,
  keyPrefix: policyEnforcementKey.prefix(),
  key: ({ node_name }) => policyEnforcementKey.build({ name: node_name }),
});

/** A record is written again after three quarters to five quarters of this time; one that is three times as old is that of no running agent. */
export const REFRESH_MS = 60_000;
export const MAX_LISTED_REFUSALS = 50;
/** Characters. */
export const MAX_REASON_LENGTH = 200;

const DIGEST_BYTES = 16;

/** A set of policies as one number: each of them is added, and taken away, by itself. */
export class PolicySetDigest {
  #sum = 0n;

  /** Adds the content of a policy, or takes it away. */
  toggle(content: bigint): void {
    this.#sum ^= content;
  }

  get text(): string {
    return this.#sum.toString(16).padStart(2 * DIGEST_BYTES, '0');
  }
}

const digests = new WeakMap<ClusterNetworkPolicy, bigint>();

/** Of the content as this release reads it, with its name. */
export function policyDigest(policy: ClusterNetworkPolicy): bigint {
  const known = digests.get(policy);
  if (known !== undefined) return known;
  const digest = textDigest(JSON.stringify(clusterNetworkPolicyModel.toJson(policy)));
  digests.set(policy, digest);
  return digest;
}

export function textDigest(text: string): bigint {
  const bytes = createHash('sha256').update(text).digest().subarray(0, DIGEST_BYTES);
  return BigInt(`0x${bytes.toString('hex')}`);
}
