// Made from policy.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'policy.proto',
  imports: [],
  nested: { "policy": { "nested": { "Policy": { "fields": { "name": { "type": "string", "id": 1 }, "namespace": { "type": "string", "id": 2 }, "label": { "rule": "repeated", "type": "Label", "id": 3 }, "pods": { "type": "LabelSelector", "id": 4 }, "policy_type": { "type": "PolicyType", "id": 5 }, "ingress_rule": { "rule": "repeated", "type": "IngressRule", "id": 6 }, "egress_rule": { "rule": "repeated", "type": "EgressRule", "id": 7 } }, "nested": { "Label": { "fields": { "key": { "type": "string", "id": 1 }, "value": { "type": "string", "id": 2 } } }, "LabelSelector": { "fields": { "match_label": { "rule": "repeated", "type": "Label", "id": 1 }, "match_expression": { "rule": "repeated", "type": "LabelExpression", "id": 2 } }, "nested": { "LabelExpression": { "fields": { "key": { "type": "string", "id": 1 }, "operator": { "type": "Operator", "id": 2 }, "value": { "rule": "repeated", "type": "string", "id": 3 } }, "nested": { "Operator": { "values": { "IN": 0, "NOT_IN": 1, "EXISTS": 2, "DOES_NOT_EXIST": 3 } } } } } }, "PolicyType": { "values": { "DEFAULT": 0, "INGRESS": 1, "EGRESS": 2, "INGRESS_AND_EGRESS": 3 } }, "Port": { "fields": { "protocol": { "type": "Protocol", "id": 3 }, "port": { "type": "PortNameOrNumber", "id": 1 }, "end_port": { "type": "int32", "id": 4 } }, "nested": { "Protocol": { "values": { "TCP": 0, "UDP": 1, "SCTP": 2 } }, "PortNameOrNumber": { "fields": { "type": { "type": "Type", "id": 1 }, "number": { "type": "int32", "id": 2 }, "name": { "type": "string", "id": 3 } }, "nested": { "Type": { "values": { "NUMBER": 0, "NAME": 1 } } } } } }, "Peer": { "fields": { "pods": { "type": "LabelSelector", "id": 1 }, "namespaces": { "type": "LabelSelector", "id": 2 }, "ip_block": { "type": "IPBlock", "id": 3 }, "pods_in_namespaces": { "type": "PodsInNamespaces", "id": 4 } }, "nested": { "IPBlock": { "fields": { "cidr": { "type": "string", "id": 1 }, "except": { "rule": "repeated", "type": "string", "id": 2 } } }, "PodsInNamespaces": { "fields": { "pods": { "type": "LabelSelector", "id": 1 }, "namespaces": { "type": "LabelSelector", "id": 2 } } } } }, "IngressRule": { "fields": { "port": { "rule": "repeated", "type": "Port", "id": 1 }, "from": { "rule": "repeated", "type": "Peer", "id": 2 } } }, "EgressRule": { "fields": { "port": { "rule": "repeated", "type": "Port", "id": 1 }, "to": { "rule": "repeated", "type": "Peer", "id": 2 } } } } } } } },
};

/** A NetworkPolicy. The field order is that of the original, because it determines the JSON. */
export interface Policy {
  readonly name: string;
  readonly namespace: string;
  readonly label: readonly PolicyLabel[];
  /** The pods of the policy's own namespace to which it applies. */
  readonly pods?: PolicyLabelSelector;
  readonly policy_type: PolicyPolicyType;
  readonly ingress_rule: readonly PolicyIngressRule[];
  readonly egress_rule: readonly PolicyEgressRule[];
}
export const Policy: MessageType<Policy> = messageType(file, 'policy.Policy');

export interface PolicyLabel {
  readonly key: string;
  readonly value: string;
}
export const PolicyLabel: MessageType<PolicyLabel> = messageType(file, 'policy.Policy.Label');

/** All requirements must match. An empty selector matches everything. */
export interface PolicyLabelSelector {
  readonly match_label: readonly PolicyLabel[];
  readonly match_expression: readonly PolicyLabelSelectorLabelExpression[];
}
export const PolicyLabelSelector: MessageType<PolicyLabelSelector> = messageType(file, 'policy.Policy.LabelSelector');

export interface PolicyLabelSelectorLabelExpression {
  readonly key: string;
  readonly operator: PolicyLabelSelectorLabelExpressionOperator;
  readonly value: readonly string[];
}
export const PolicyLabelSelectorLabelExpression: MessageType<PolicyLabelSelectorLabelExpression> = messageType(file, 'policy.Policy.LabelSelector.LabelExpression');

export type PolicyLabelSelectorLabelExpressionOperator =
  | 'IN'
  | 'NOT_IN'
  | 'EXISTS'
  | 'DOES_NOT_EXIST';

export type PolicyPolicyType =
  | 'DEFAULT'
  | 'INGRESS'
  | 'EGRESS'
  | 'INGRESS_AND_EGRESS';

export interface PolicyPort {
  readonly protocol: PolicyPortProtocol;
  /** Absent: every port of the protocol. */
  readonly port?: PolicyPortPortNameOrNumber;
  /** Last port of a range that begins at port.number; 0: no range. Not in the original. */
  readonly end_port: number;
}
export const PolicyPort: MessageType<PolicyPort> = messageType(file, 'policy.Policy.Port');

export type PolicyPortProtocol =
  | 'TCP'
  | 'UDP'
  | 'SCTP';

export interface PolicyPortPortNameOrNumber {
  readonly type: PolicyPortPortNameOrNumberType;
  readonly number: number;
  /** Of a container port of the pod that receives. */
  readonly name: string;
}
export const PolicyPortPortNameOrNumber: MessageType<PolicyPortPortNameOrNumber> = messageType(file, 'policy.Policy.Port.PortNameOrNumber');

export type PolicyPortPortNameOrNumberType =
  | 'NUMBER'
  | 'NAME';

/** One of its fields is set. */
export interface PolicyPeer {
  /** Pods of the policy's own namespace. */
  readonly pods?: PolicyLabelSelector;
  /** All pods of the selected namespaces. */
  readonly namespaces?: PolicyLabelSelector;
  readonly ip_block?: PolicyPeerIPBlock;
  /**
   * The selected pods of the selected namespaces. Not in the original,
   * which reads a peer without the fields above as no pod.
   */
  readonly pods_in_namespaces?: PolicyPeerPodsInNamespaces;
}
export const PolicyPeer: MessageType<PolicyPeer> = messageType(file, 'policy.Policy.Peer');

export interface PolicyPeerIPBlock {
  readonly cidr: string;
  readonly except: readonly string[];
}
export const PolicyPeerIPBlock: MessageType<PolicyPeerIPBlock> = messageType(file, 'policy.Policy.Peer.IPBlock');

export interface PolicyPeerPodsInNamespaces {
  readonly pods?: PolicyLabelSelector;
  readonly namespaces?: PolicyLabelSelector;
}
export const PolicyPeerPodsInNamespaces: MessageType<PolicyPeerPodsInNamespaces> = messageType(file, 'policy.Policy.Peer.PodsInNamespaces');

export interface PolicyIngressRule {
  /** Empty: every port. */
  readonly port: readonly PolicyPort[];
  /** Empty: all peers. */
  readonly from: readonly PolicyPeer[];
}
export const PolicyIngressRule: MessageType<PolicyIngressRule> = messageType(file, 'policy.Policy.IngressRule');

export interface PolicyEgressRule {
  readonly port: readonly PolicyPort[];
  readonly to: readonly PolicyPeer[];
}
export const PolicyEgressRule: MessageType<PolicyEgressRule> = messageType(file, 'policy.Policy.EgressRule');
