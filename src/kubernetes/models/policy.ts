import { defineModel } from '#models/define.ts';
import type { Rules } from '#models/rules.ts';
import { namespacedKey } from './keys.ts';
import { Policy, type PolicyLabelSelector, type PolicyPeer } from './policy.gen.ts';
import { cidrOrText, labels } from './shared-rules.ts';

export type {
  Policy,
  PolicyEgressRule,
  PolicyIngressRule,
  PolicyLabel,
  PolicyLabelSelector,
  PolicyLabelSelectorLabelExpression as PolicyLabelExpression,
  PolicyPeer,
  PolicyPeerIPBlock as PolicyIpBlock,
  PolicyPort,
} from './policy.gen.ts';

export const policyKey = namespacedKey('policy');

const selector: Rules<PolicyLabelSelector> = { match_label: labels };
const peer: Rules<PolicyPeer> = {
  pods: selector,
  namespaces: selector,
  // agents of the original do not read leading zeros
  ip_block: { cidr: cidrOrText, except: cidrOrText },
  pods_in_namespaces: { pods: selector, namespaces: selector },
};

export const policyModel = defineModel<Policy>({
  message: Policy,
  keyPrefix: policyKey.prefix(),
  key: ({ name, namespace }) => policyKey.build({ name, namespace }),
  rules: {
    label: labels,
    pods: selector,
    ingress_rule: { from: peer },
    egress_rule: { to: peer },
  },
});
