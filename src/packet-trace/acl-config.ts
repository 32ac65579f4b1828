/** The ACLs of a VPP that are bound to interfaces, as plain data. */
import type { AclRule } from '#models/vpp/acl.ts';

export interface AclConfig {
  readonly acls: readonly Acl[];
  /** Interfaces without an ACL are left out. */
  readonly bindings: readonly AclBinding[];
}

export interface Acl {
  /** Key of the value that configures it; empty if none does. */
  readonly key: string;
  readonly name: string;
  readonly rules: readonly AclRule[];
}

/** Names of ACLs in the order in which their rules are compared; the first rule that matches decides. */
export interface AclBinding {
  readonly interface: string;
  readonly input: readonly string[];
  readonly output: readonly string[];
}
