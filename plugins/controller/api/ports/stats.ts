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
  readonly node: string;
  readonly reason: string;
  readonly count: bigint;
}

/** The work of a graph node, on all threads together. */
export interface NodeRuntime {
  readonly index: number;
  readonly name: string;
  readonly calls: bigint;
  readonly vectors: bigint;
  readonly suspends: bigint;
  /** Clock cycles of the processor. */
  readonly clocks: bigint;
}

/** A heap of VPP, in bytes. */
export interface HeapUsage {
  /** `main heap`, `stat segment`. */
  readonly name: string;
  readonly total: number;
  readonly used: number;
  readonly free: number;
  /** Free bytes that VPP could return to the system. */
  readonly trimmable: number;
}

/** Numbers of buffers. */
export interface BufferPool {
  readonly name: string;
  readonly used: number;
  /** Free, but in the cache of a thread. */
  readonly cached: number;
  readonly available: number;
}

export interface SystemCounters {
  /** Worker threads besides the main thread. */
  readonly workers: number;
  /** Average packets per loop of each thread (0 is the main thread). */
  readonly vectorRates: readonly number[];
  /** Loops per second of each thread. */
  readonly loopRates: readonly number[];
  readonly heaps: readonly HeapUsage[];
  readonly bufferPools: readonly BufferPool[];
}

/** Of the session table of NAT44, which each thread has its own of. */
export interface NatSessionCounters {
  /** Sessions of each thread (0 is the main thread), expired ones that are not removed yet included. */
  readonly sessions: readonly number[];
  /** Size of each table; 0 if NAT44 was never enabled. */
  readonly limit: number;
}

/** Packets that NAT44 has handled. */
export interface NatPacketCounter {
  readonly direction: 'in2out' | 'out2in';
  /** The first packet of a session takes the slow path. */
  readonly path: 'fast' | 'slow';
  /** `drops`: packets of any protocol that were dropped. */
  readonly kind: 'tcp' | 'udp' | 'icmp' | 'other' | 'drops';
  readonly count: bigint;
}

export interface StatsPort {
  interfaces(): Promise<readonly InterfaceCounters[]>;
  /** Only counters that are not zero. */
  nodeErrors(): Promise<readonly NodeErrorCounter[]>;
  /** Only nodes that have run; empty unless VPP counts per node (`statseg { per-node-counters on }`). */
  nodes(): Promise<readonly NodeRuntime[]>;
  system(): Promise<SystemCounters>;
  natSessions(): Promise<NatSessionCounters>;
  /** Empty if this VPP has no NAT44. */
  natPackets(): Promise<readonly NatPacketCounter[]>;
}
