// Made from cluster-network-policy.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';
import { file as policyFile, type PolicyPeerPodsInNamespaces, type PolicyLabelSelector } from './policy.gen.ts';

export const file: ProtoFile = {
  name: 'cluster-network-policy.proto',
  imports: [policyFile],
  nested: { "clusternetworkpolicy": { "nested": { "ClusterNetworkPolicy": { "fields": { "name": { "type": "string", "id": 1 }, "unreadable": { "type": "string", "id": 2 }, "tier": { "type": "Tier", "id": 3 }, "priority": { "type": "int32", "id": 4 }, "subject": { "type": "policy.Policy.Peer.PodsInNamespaces", "id": 5 }, "ingress": { "rule": "repeated", "type": "Rule", "id": 6 }, "egress": { "rule": "repeated", "type": "Rule", "id": 7 } }, "nested": { "Tier": { "values": { "ADMIN": 0, "BASELINE": 1 } }, "Peer": { "fields": { "pods": { "type": "policy.Policy.Peer.PodsInNamespaces", "id": 1 }, "nodes": { "type": "policy.Policy.LabelSelector", "id": 2 }, "networks": { "type": "Networks", "id": 3 } }, "nested": { "Networks": { "fields": { "cidr": { "rule": "repeated", "type": "string", "id": 1 } } } } }, "Port": { "fields": { "protocol": { "type": "Protocol", "id": 1 }, "first": { "type": "int32", "id": 2 }, "last": { "type": "int32", "id": 3 }, "name": { "type": "string", "id": 4 } }, "nested": { "Protocol": { "values": { "TCP": 0, "UDP": 1, "SCTP": 2 } } } }, "Rule": { "fields": { "name": { "type": "string", "id": 1 }, "action": { "type": "Action", "id": 2 }, "closed": { "type": "bool", "id": 3 }, "peer": { "rule": "repeated", "type": "Peer", "id": 4 }, "port": { "rule": "repeated", "type": "Port", "id": 5 } }, "nested": { "Action": { "values": { "ACCEPT": 0, "DENY": 1, "PASS": 2 } } } } } } } } },
};

/** A ClusterNetworkPolicy of policy.networking.k8s.io. Not in the original. */
export interface ClusterNetworkPolicy {
  readonly name: string;
  /** Reasons why the record has less than the object, as sentences for operators. */
  readonly unreadable: string;
  readonly tier: ClusterNetworkPolicyTier;
  /** 0 to 1000; the lowest decides first. */
  readonly priority: number;
  /** The pods to which it applies; absent: all. */
  readonly subject?: PolicyPeerPodsInNamespaces;
  readonly ingress: readonly ClusterNetworkPolicyRule[];
  readonly egress: readonly ClusterNetworkPolicyRule[];
}
export const ClusterNetworkPolicy: MessageType<ClusterNetworkPolicy> = messageType(file, 'clusternetworkpolicy.ClusterNetworkPolicy');

export type ClusterNetworkPolicyTier =
  | 'ADMIN'
  | 'BASELINE';

/** One of its fields is set. */
export interface ClusterNetworkPolicyPeer {
  readonly pods?: PolicyPeerPodsInNamespaces;
  /** Nodes, by the labels of their objects. */
  readonly nodes?: PolicyLabelSelector;
  readonly networks?: ClusterNetworkPolicyPeerNetworks;
}
export const ClusterNetworkPolicyPeer: MessageType<ClusterNetworkPolicyPeer> = messageType(file, 'clusternetworkpolicy.ClusterNetworkPolicy.Peer');

export interface ClusterNetworkPolicyPeerNetworks {
  readonly cidr: readonly string[];
}
export const ClusterNetworkPolicyPeerNetworks: MessageType<ClusterNetworkPolicyPeerNetworks> = messageType(file, 'clusternetworkpolicy.ClusterNetworkPolicy.Peer.Networks');

export interface ClusterNetworkPolicyPort {
  readonly protocol: ClusterNetworkPolicyPortProtocol;
  /** 0: every port of the protocol. */
  readonly first: number;
  readonly last: number;
  /** Of a container port of the pod that receives, whatever its protocol is; the fields above are empty then. */
  readonly name: string;
}
export const ClusterNetworkPolicyPort: MessageType<ClusterNetworkPolicyPort> = messageType(file, 'clusternetworkpolicy.ClusterNetworkPolicy.Port');

export type ClusterNetworkPolicyPortProtocol =
  | 'TCP'
  | 'UDP'
  | 'SCTP';

export interface ClusterNetworkPolicyRule {
  readonly name: string;
  readonly action: ClusterNetworkPolicyRuleAction;
  /** A part of it cannot be read, or is not supported: it accepts nothing, or denies all. */
  readonly closed: boolean;
  readonly peer: readonly ClusterNetworkPolicyPeer[];
  /** Empty: every port, and protocols without ports. */
  readonly port: readonly ClusterNetworkPolicyPort[];
}
export const ClusterNetworkPolicyRule: MessageType<ClusterNetworkPolicyRule> = messageType(file, 'clusternetworkpolicy.ClusterNetworkPolicy.Rule');

export type ClusterNetworkPolicyRuleAction =
  | 'ACCEPT'
  | 'DENY'
  | 'PASS';
