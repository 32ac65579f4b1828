/**
 * Policies of the cluster that cannot be read. Such a policy denies everything, to and from the pods of its subject, before
 * all others: without its record they would be permitted what it denies. If its subject cannot be read, it is all pods.
 */
import { InvalidModelError } from '#models/model.ts';
import {
  type ClusterNetworkPolicy,
  type ClusterNetworkPolicyRule,
  clusterNetworkPolicyModel,
} from './cluster-network-policy.ts';

/** Denies all, in either direction. */
export const closedClusterRule: ClusterNetworkPolicyRule = Object.freeze({
  name: '',
  action: 'DENY',
  closed: true,
  peer: [],
  port: [],
});

export const closedClusterPolicies = {
  value({ name }: { readonly name: string }, reason: string, raw?: unknown): ClusterNetworkPolicy {
    const subject = parsed({ subject: fieldsOf(raw)['subject'] })?.subject;
    return clusterNetworkPolicyModel.canonical({
      name,
      unreadable: reason,
      ...(subject !== undefined && { subject }),
      ingress: [closedClusterRule],
      egress: [closedClusterRule],
    });
  },

  /** A field of a newer writer beside the others may be ignored, one within a subject or a rule may restrict it. */
  isReadable(raw: object): boolean {
    const { tier, priority, subject, ingress, egress } = fieldsOf(raw);
    return parsed({ tier, priority, subject, ingress, egress }) !== undefined;
  },

  unreadableParts({ unreadable }: ClusterNetworkPolicy): string | undefined {
    return unreadable === '' ? undefined : unreadable;
  },
};

function fieldsOf(raw: unknown): Readonly<Record<string, unknown>> {
  return typeof raw === 'object' && raw !== null ? (raw as Record<string, unknown>) : {};
}

/** @returns undefined if a field is unknown or invalid */
function parsed(fields: object): ClusterNetworkPolicy | undefined {
  try {
    return clusterNetworkPolicyModel.parse(fields);
  } catch (thrown) {
    if (thrown instanceof InvalidModelError) return undefined;
    throw thrown;
  }
}
