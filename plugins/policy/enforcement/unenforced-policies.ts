/**
 * The policies of the cluster that this node does not enforce as they are defined, and why. Faults that follow from the object alone
 * are no matter of the node.
 */

import { errorText } from '#infra/errors/errors.ts';
import type { FailedValue } from '#kvscheduler/api/transaction.ts';
import { aclKey } from '#models/vpp/acl.ts';
import { aclBindingKey } from '#models/vpp/derived.ts';
import type { PolicyApi } from '../api.ts';
import type { PolicyName } from '../pod-policy.ts';

/**
 * NotCarried: VPP cannot carry it, because of its ports or of the size of a table. NotResolved: a record that it needs is
 * incomplete. NotConfigured: VPP has rejected a table.
 */
export type UnenforcedCode = 'NotCarried' | 'NotResolved' | 'NotConfigured';

export interface UnenforcedPolicy {
  readonly policy: PolicyName;
  readonly code: UnenforcedCode;
  readonly reason: string;
}

type Reasons = ReadonlyMap<PolicyName, readonly string[]>;

/** Sorted by policy; one entry for each policy and code. */
export function unenforcedPolicies(
  policies: Pick<PolicyApi, 'unresolved' | 'limits' | 'policies' | 'valuesOf'>,
  failed: Iterable<FailedValue>,
): UnenforcedPolicy[] {
  const entries = (code: UnenforcedCode, reasons: Reasons): UnenforcedPolicy[] =>
    Array.from(reasons, ([policy, texts]) => ({ policy, code, reason: texts.join('; ') }));
  return [
    ...entries('NotCarried', policies.limits()),
    ...entries('NotResolved', policies.unresolved()),
    ...entries('NotConfigured', notConfigured(policies, failed)),
  ]
    .filter(({ policy }) => isOfCluster(policy))
    .sort((a, b) => (a.policy < b.policy ? -1 : a.policy > b.policy ? 1 : 0));
}

/** The names of others have their namespace. */
function isOfCluster(policy: PolicyName): boolean {
  return !policy.includes('/');
}

/** Those of pods that a table of VPP has to carry which is not configured. */
function notConfigured(
  policies: Pick<PolicyApi, 'policies' | 'valuesOf'>,
  failed: Iterable<FailedValue>,
): Reasons {
  const errors = new Map<string, string>();
  for (const { key, error } of failed) {
    const acl = aclKeyOf(key);
    if (acl !== undefined) errors.set(acl, errorText(error));
  }
  const reasons = new Map<PolicyName, string[]>();
  if (errors.size === 0) return reasons;
  for (const [id, { pod, ingress, egress }] of policies.policies()) {
    const error = [...policies.valuesOf(id).keys()].map((key) => errors.get(key)).find(Boolean);
    if (error === undefined) continue;
    for (const policy of new Set([...ingress.policies, ...egress.policies])) {
      // the reason of one pod says as much as those of a hundred
      if (!reasons.has(policy))
        reasons.set(policy, [`a table of pod ${pod} is not configured: ${error}`]);
    }
  }
  return reasons;
}

/** Of a table, or of its binding to an interface. */
function aclKeyOf(key: string): string | undefined {
  const binding = aclBindingKey.parse(key);
  if (binding !== undefined) return aclKey.build({ name: binding.acl });
  return aclKey.parse(key) && key;
}
