/** Port to the sessions of VPP's NAT44, in plain types. */

/** An address behind the NAT that has sessions: a backend, or a client whose address is replaced. */
export interface NatUser {
  readonly address: string;
  /** ID of the routing table. */
  readonly table: number;
}

export interface NatEnd {
  /** Without prefix length. */
  readonly address: string;
  readonly port: number;
}

export interface NatSession {
  /** As in IP: 6 is TCP. */
  readonly protocol: number;
  readonly table: number;
  readonly inside: NatEnd;
  /** The other end as the inside sees it. */
  readonly outside: NatEnd;
  /** Idle for longer than the timeout of its protocol and state: VPP may remove it. */
  readonly isExpired: boolean;
}

/** VPP stops all its threads for each call, and reads its whole table for `users` and `sessionsOf`. */
export interface NatSessionPort {
  users(): Promise<readonly NatUser[]>;
  sessionsOf(user: NatUser): Promise<readonly NatSession[]>;
  /** @returns whether it was there */
  delete(session: NatSession): Promise<boolean>;
}
