// Made from policy-enforcement.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'policy-enforcement.proto',
  imports: [],
  nested: { "model": { "nested": { "PolicyEnforcement": { "fields": { "node_name": { "type": "string", "id": 1 }, "updated": { "type": "string", "id": 2 }, "applied": { "type": "string", "id": 3 }, "problem": { "type": "string", "id": 4 }, "not_enforced": { "rule": "repeated", "type": "Refusal", "id": 5 }, "unlisted": { "type": "uint32", "id": 6 } }, "nested": { "Refusal": { "fields": { "policy": { "type": "string", "id": 1 }, "code": { "type": "string", "id": 2 }, "reason": { "type": "string", "id": 3 } } } } } } } },
};

/** What a node does not enforce of the ClusterNetworkPolicies, written by its agent and summed up by contiv-ksr. */
export interface PolicyEnforcement {
  readonly node_name: string;
  /** RFC 3339. The record is written again while the agent runs, also without a change. */
  readonly updated: string;
  /** Digest of all ClusterNetworkPolicies that the node has applied. */
  readonly applied: string;
  /** Why the node may enforce none of them; empty: it does. */
  readonly problem: string;
  /** Of the others it carries all. */
  readonly not_enforced: readonly PolicyEnforcementRefusal[];
  /** Refusals that are not listed: of policies that are not, nothing is known then. */
  readonly unlisted: number;
}
export const PolicyEnforcement: MessageType<PolicyEnforcement> = messageType(file, 'model.PolicyEnforcement');

export interface PolicyEnforcementRefusal {
  readonly policy: string;
  /** NotCarried, NotResolved or NotConfigured. */
  readonly code: string;
  readonly reason: string;
}
export const PolicyEnforcementRefusal: MessageType<PolicyEnforcementRefusal> = messageType(file, 'model.PolicyEnforcement.Refusal');
