/**
 * Policies that cannot be read, as a whole or in parts. Such a policy must isolate: without its record the pods that it
 * selects would be open. The form is one that the agent of the original reads in the same way, so it has no field of its
 * own:
 * - a peer without a selector matches no pod;
 * - a rule of which ports or peers cannot be read has one such peer, so that it permits nothing;
 * - the reasons are in a label of the record. Agents do not use the labels of policies otherwise.
 */
import { InvalidModelError } from '#models/model.ts';
import { type Policy, type PolicyIngressRule, type PolicyPeer, policyModel } from './policy.ts';

/** Its value has the reasons, as sentences for operators. */
export const UNREADABLE_LABEL = 'contivpp.io/unreadable';

/** Reasons in a label. */
const MAX_REASONS = 10;

export const noPeer: PolicyPeer = Object.freeze({});

/** Permits nothing, in either direction. */
export const closedRule = { port: [], from: [noPeer], to: [noPeer] } as const satisfies {
  from: PolicyIngressRule['from'];
  port: PolicyIngressRule['port'];
  to: PolicyIngressRule['from'];
};

export interface PolicyNames {
  readonly name: string;
  readonly namespace: string;
}

export const closedPolicies = {
  /**
   * Isolates in both directions the pods that the policy selects, or all of its namespace if its selector cannot be
   * read, either.
   */
  value({ name, namespace }: PolicyNames, reason: string, raw?: unknown): Policy {
    return policyModel.canonical({
      name,
      namespace,
      label: unreadableLabel([reason]),
      pods: parsed({ pods: fieldsOf(raw)['pods'] })?.pods ?? everything,
      policy_type: 'INGRESS_AND_EGRESS',
    });
  },

  /** A field of a newer writer beside the others may be ignored, one within a selector or a rule may restrict it. */
  isReadable(raw: object): boolean {
    const { pods, ingress_rule, ingressRule, egress_rule, egressRule } = fieldsOf(raw);
    return parsed({ pods, ingress_rule, ingressRule, egress_rule, egressRule }) !== undefined;
  },

  unreadableParts({ label }: Policy): string | undefined {
    return unreadableReason(label);
  },
};

const everything: Policy['pods'] = Object.freeze({ match_label: [], match_expression: [] });

function fieldsOf(raw: unknown): Readonly<Record<string, unknown>> {
  return typeof raw === 'object' && raw !== null ? (raw as Record<string, unknown>) : {};
}

/** @returns undefined if a field is unknown or invalid */
function parsed(fields: object): Policy | undefined {
  try {
    return policyModel.parse(fields);
  } catch (thrown) {
    if (thrown instanceof InvalidModelError) return undefined;
    throw thrown;
  }
}

/** Reasons in the labels of a record; undefined: it can be read as a whole. */
export function unreadableReason(label: Policy['label']): string | undefined {
  return label.find(({ key }) => key === UNREADABLE_LABEL)?.value;
}

/** Empty without reasons. */
export function unreadableLabel(reasons: readonly string[]): Policy['label'] {
  if (reasons.length === 0) return [];
  const more = reasons.length - MAX_REASONS;
  const told = more > 0 ? [...reasons.slice(0, MAX_REASONS), `${more} more`] : reasons;
  return [{ key: UNREADABLE_LABEL, value: told.join('; ') }];
}
