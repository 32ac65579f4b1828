/** Names of ACLs. By their common prefix they are recognized as made by the agent. */
import { createHash } from 'node:crypto';

const HASH_DIGITS = 16;

export const GLOBAL_ACL = 'contiv-policy-NODE-GLOBAL';
export const REFLECTION_ACL = 'contiv-policy-REFLECTION';

export interface PodAclNames {
  /** For packets to the pod. */
  readonly to: string;
  /** For packets from the pod. */
  readonly from: string;
}

/**
 * Each pod has ACLs of its own: VPP forgets all sessions of an interface when another ACL is bound to it, so an
 * ACL stays bound, and its rules are replaced.
 */
export function podAclNames(podInterface: string): PodAclNames {
  const hash = createHash('sha256').update(podInterface).digest('hex').slice(0, HASH_DIGITS);
  return { to: `contiv-policy-to-${hash}`, from: `contiv-policy-from-${hash}` };
}
