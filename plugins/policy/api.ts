/** Network policies on this node for other plugins and for operators. */
import type { Value } from '#kvscheduler/api/transaction.ts';
import { defineEvent, EventMethod } from '#plugins/controller/api/event.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import type { ServiceName } from '#plugins/service/api.ts';
import type { OwnAddresses } from './cache/node-table.ts';
import type { PodPolicy, PolicyName } from './pod-policy.ts';
import type { AttachedPod } from './processor/policy-processor.ts';
import type { CheckedAddress, PolicyNode } from './rendered-state.ts';

/**
 * Interfaces that had no table have one now. What was open before is read afterwards, and permitted by name: replies are
 * lost meanwhile, and sent again.
 */
export const NewPolicyTables = defineEvent<{
  /** Attachments, and `node` for the interfaces that lead out of the node. */
  readonly owners: readonly string[];
}>({
  id: 'new-policy-tables',
  blocking: false,
  name: 'New Policy Tables',
  describe: ({ owners }) => `New Policy Tables\n* interfaces: ${owners.length}`,
  method: EventMethod.Update,
});

export interface PolicyApi {
  /** Name of the renderer that carries policies; undefined: none does, for example before the first resync. */
  rendererName(): string | undefined;
  /** The attached pods of this node, for which `policies` are computed. */
  attachedPods(): ReadonlyMap<AttachmentId, WiredPod>;
  /** The permits of the attached pods of this node, those without policies as well. */
  policies(): ReadonlyMap<AttachmentId, PodPolicy>;
  /** Why policies are not carried as their objects define them; without those that are. */
  policyProblems(): ReadonlyMap<PolicyName, readonly string[]>;
  /** Those of them that depend on other objects than the policy, or on this node. */
  unresolved(): ReadonlyMap<PolicyName, readonly string[]>;
  /** Reasons of the renderer for which less is permitted than the policies say. */
  limits(): ReadonlyMap<PolicyName, readonly string[]>;
  /** Policies with problems or limits, sorted: they permit less than their objects. */
  notAsDefined(): readonly PolicyName[];
  /** The values that carry the policies of a pod, by key. */
  valuesOf(attachment: AttachmentId): ReadonlyMap<string, Value>;
  /** As the renderer knows this node; undefined: no renderer carries policies. */
  node(): PolicyNode | undefined;
  /** Addresses and networks of nodes beside those of their objects, by the names of these. */
  ownAddresses(): OwnAddresses;
  /** The services whose clients the renderer checks where their packets enter. */
  checkedServices(): ReadonlyMap<ServiceName, readonly CheckedAddress[]>;
}

export interface WiredPod {
  readonly pod: AttachedPod;
  /** Logical name of its interface in VPP; undefined: it is not wired. */
  readonly interface: string | undefined;
}
