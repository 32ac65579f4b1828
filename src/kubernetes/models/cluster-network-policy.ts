import { defineModel } from '#models/define.ts';
import type { Rules } from '#models/rules.ts';
import {
  ClusterNetworkPolicy,
  type ClusterNetworkPolicyPeer,
  type ClusterNetworkPolicyRule,
} from './cluster-network-policy.gen.ts';
import { clusterKey } from './keys.ts';
import type { PolicyLabelSelector } from './policy.ts';
import { cidrOrText, labels } from './shared-rules.ts';

export type {
  ClusterNetworkPolicy,
  ClusterNetworkPolicyPeer,
  ClusterNetworkPolicyPort,
  ClusterNetworkPolicyRule,
} from './cluster-network-policy.gen.ts';

export const clusterNetworkPolicyKey = clusterKey('clusternetworkpolicy');

const selector: Rules<PolicyLabelSelector> = { match_label: labels };
const pods = { pods: selector, namespaces: selector };
const peer: Rules<ClusterNetworkPolicyPeer> = {
  pods,
  nodes: selector,
  networks: { cidr: cidrOrText },
};
const rule: Rules<ClusterNetworkPolicyRule> = { peer };

export const clusterNetworkPolicyModel = defineModel<ClusterNetworkPolicy>({
  message: ClusterNetworkPolicy,
  keyPrefix: clusterNetworkPolicyKey.prefix(),
  key: ({ name }) => clusterNetworkPolicyKey.build({ name }),
  rules: { subject: pods, ingress: rule, egress: rule },
});
