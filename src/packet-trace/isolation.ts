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
  /** Policies that isolate it, as `<namespace>/<name>`. */
  readonly ingress: readonly string[];
  readonly egress: readonly string[];
}
