/** Read port to VPP's counters, in plain types. Counters only grow, until VPP restarts. */

export interface InterfaceCounters {
  readonly swIfIndex: number;
  /** VPP's own name. */
  readonly internalName: string;
  readonly rxPackets: bigint;
  readonly rxBytes: bigint;
  readonly txPackets: bigint;
  readonly txBytes: bigint;
  readonly drops: bigint;
  readonly punts: bigint;
  readonly ip4: bigint;
  readonly ip6: bigint;
  readonly rxNoBuffer: bigint;
  readonly rxMiss: bigint;
  readonly rxErrors: bigint;
  readonly txErrors: bigint;
}

export interface NodeErrorCounter {
  /** `<node>/<reason>`. */
  readonly name: string;
  readonly count: bigint;
}

export interface SystemCounters {
  /** Bytes of the main heap. */
  readonly heapTotal: number;
  readonly heapUsed: number;
  /** Worker threads besides the main thread. */
  readonly workers: number;
  /** Average packets per loop of each thread (0 is the main thread). */
  readonly vectorRates: readonly number[];
}

/** Of the session table of NAT44, which each thread has its own of. */
export interface NatSessionCounters {
  /** Sessions of each thread (0 is the main thread), expired ones that are not removed yet included. */
  readonly sessions: readonly number[];
  /** Size of each table; 0 if NAT44 was never enabled. */
  readonly limit: number;
}

export interface StatsPort {
  interfaces(): Promise<readonly InterfaceCounters[]>;
  /** Only counters that are not zero. */
  nodeErrors(): Promise<readonly NodeErrorCounter[]>;
  system(): Promise<SystemCounters>;
  natSessions(): Promise<NatSessionCounters>;
}
