/** Which policies isolate the pods of a node, and the ACLs that carry them. */

export interface NodeIsolation {
  /** Keys of the ACLs that carry policies: an operator may bind others. */
  readonly acls: readonly string[];
  /** The pods of the node that policies isolate. */
  readonly pods: readonly IsolatedPod[];
}

export interface IsolatedPod {
  /** `<namespace>/<name>` */
  readonly pod: string;
  /** Without prefix length. */
  readonly addresses: readonly string[];
  /** Policies that isolate it, as `<namespace>/<name>`. */
  readonly ingress: readonly string[];
  readonly egress: readonly string[];
}
