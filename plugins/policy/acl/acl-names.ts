/** Names of ACLs. By their common prefix they are recognized as made by the agent. */
import { createHash } from 'node:crypto';

const MAX_LENGTH = 63;
const HASH_DIGITS = 16;

/** Names of the two ACLs of an interface, in the view of VPP. */
export interface AclNames {
  readonly output: string;
  readonly input: string;
}

export const nodeAclNames: AclNames = {
  output: 'contiv-policy-NODE-GLOBAL',
  input: 'contiv-policy-NODE-REFLECTION',
};

/**
 * Clients that are no pods of this node, at the NICs. VPP asks the ACLs of an interface in the order of their names: the
 * one of an operator precedes it.
 */
export const CLIENT_ACL = '~contiv-policy-NODE-CLIENTS';

/** At the link to the host. What comes by it services may restrict, policies do not: that is at its input. */
export const hostAclNames: AclNames = {
  output: 'contiv-policy-NODE-HOST',
  input: '~contiv-policy-HOST-CLIENTS',
};

/** Of all ACLs with tables. */
export const ACL_PREFIX = 'contiv-policy-';

/**
 * Each interface has ACLs of its own: VPP drops all sessions of an interface when another ACL is bound to it, so
 * while it has a table its ACLs stay bound, and their rules are replaced. The scheduler configures values in the order
 * of their keys: the names put all tables before the rules that follow from them.
 */
export function podAclNames(podInterface: string): AclNames {
  return {
    output: shortened(`contiv-policy-out-${podInterface}`),
    input: shortened(`contiv-policy-reflection-${podInterface}`),
  };
}

/** A name that VPP stores as a whole. */
function shortened(name: string): string {
  if (name.length <= MAX_LENGTH) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_DIGITS);
  return `${name.slice(0, MAX_LENGTH - HASH_DIGITS - 1)}-${hash}`;
}
