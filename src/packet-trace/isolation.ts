/** Which policies isolate the pods of a node, which services restrict their clients, and the ACLs that carry them. */

export interface NodeIsolation {
  /** Keys of the ACLs that carry policies: an operator may bind others. */
  readonly acls: readonly string[];
  /** The pods of the node that policies isolate. */
  readonly pods: readonly IsolatedPod[];
  /** Absent: an agent of an earlier version. */
  readonly services?: readonly RestrictedAddress[] | undefined;
}

/** An address of a service that is not for everyone. */
export interface RestrictedAddress {
  /** `<namespace>/<name>` */
  readonly service: string;
  /** Without prefix length. */
  readonly address: string;
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP';
  /** Networks of its clients; none: it has no client. */
  readonly ranges: readonly string[];
  /** Whether sockets of the node are refused: a socket may have the address of any pod of the node. */
  readonly refusesSockets: boolean;
}

export interface IsolatedPod {
  /** `<namespace>/<name>` */
  readonly pod: string;
  /** Without prefix length. */
  readonly addresses: readonly string[];
  /** Policies that apply to it: `<namespace>/<name>`, of policies of the cluster `<name>`. */
  readonly ingress: readonly string[];
  readonly egress: readonly string[];
  /** Absent: only NetworkPolicies apply, or the agent is of an earlier version. */
  readonly rules?: Readonly<Record<'ingress' | 'egress', readonly TracedRule[]>> | undefined;
}

/** A rule of a pod. The first one that matches decides, or passes to the next tier. */
export interface TracedRule {
  readonly tier: string;
  readonly action: 'Accept' | 'Deny' | 'Pass';
  /** For people: the action, and where the rule is. */
  readonly text: string;
  /** Networks of the other ends. */
  readonly peers: readonly string[];
  /** Absent: all, and protocols without ports. */
  readonly ports?:
    | readonly { readonly protocol: string; readonly first: number; readonly last: number }[]
    | undefined;
}
