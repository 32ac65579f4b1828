/** The policies of the cluster that this node enforces, while its state is settled. */

import { errorText } from '#infra/errors/errors.ts';
import type { ClusterNetworkPolicy } from '#kubernetes/models/cluster-network-policy.ts';
import { PolicySetDigest, policyDigest } from '#kubernetes/models/policy-enforcement.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { FailedValue } from '#kvscheduler/api/transaction.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { PolicyApi } from '../api.ts';
import { type UnenforcedPolicy, unenforcedPolicies } from './unenforced-policies.ts';

export interface NodeEnforcementDeps {
  readonly policies: Pick<PolicyApi, 'unresolved' | 'limits' | 'policies' | 'valuesOf'>;
  /** After the last event. */
  readonly kubeState: () => KubeState;
  /** Whether VPP is connected, and a resync has configured it since. */
  readonly isSynced: () => boolean;
  /** Whether no event is processed or waits, and no value is being configured. */
  readonly isSettled: () => boolean;
  /** Why the handlers may not have applied that state; undefined: they have. */
  readonly unapplied: () => Error | undefined;
  readonly failedValues: () => Iterable<FailedValue>;
}

export interface NodeEnforcement {
  /** How many policies of the cluster there are. */
  readonly policies: number;
  /** Digest of all policies of the cluster that were applied. */
  readonly applied: string;
  /** Why none may be enforced; empty: they are, but for those that are named. */
  readonly problem: string;
  readonly notEnforced: readonly UnenforcedPolicy[];
}

const NOT_SYNCED = 'VPP is not connected, or was not configured since';

export class NodeEnforcementReader {
  readonly #deps: NodeEnforcementDeps;
  #wasSynced = false;

  constructor(deps: NodeEnforcementDeps) {
    this.#deps = deps;
  }

  /** @returns undefined: not known now. Before the first resync VPP may have what an earlier agent has configured */
  read(): NodeEnforcement | undefined {
    const { policies, kubeState, isSynced, isSettled, unapplied, failedValues } = this.#deps;
    const all = kubeState().get(resources.clusternetworkpolicy.keyword);
    const count = all?.size ?? 0;
    const without = (problem: string): NodeEnforcement => {
      return { policies: count, applied: '', problem, notEnforced: [] };
    };
    if (!isSynced()) return this.#wasSynced ? without(NOT_SYNCED) : undefined;
    this.#wasSynced = true;
    if (!isSettled()) return undefined;
    const failure = unapplied();
    if (failure) return without(`the last change was not applied: ${errorText(failure)}`);
    return {
      policies: count,
      applied: digestOf(all?.values() ?? []),
      problem: '',
      notEnforced: unenforcedPolicies(policies, failedValues()),
    };
  }
}

function digestOf(policies: Iterable<object>): string {
  const all = new PolicySetDigest();
  for (const policy of policies) all.toggle(policyDigest(policy as ClusterNetworkPolicy));
  return all.text;
}
