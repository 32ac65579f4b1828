/** Probes of the pods of `netctl test`, and their results: JSON in the arguments and the termination message of a pod. */
export interface Probe {
  readonly host: string;
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP';
  /** Beginning of the name of who has to answer. */
  readonly by: string;
  /** Whether an answer is expected: it is waited for, or tried to get a few times. */
  readonly answers: boolean;
}

export const outcomes = [
  'answered',
  'refused',
  'silent',
  /** A connection, but not all of its bytes. */
  'stalled',
  /** Another pod answered. */
  'wrong pod',
  'unknown name',
] as const;
export type Outcome = (typeof outcomes)[number];

/** Outcome and milliseconds until then. */
export type ProbeResult = readonly [outcome: Outcome, ms: number];

/** The status of a pod has no more of its message than 4096 bytes: as many results of 24 bytes fit. */
export const MAX_PROBES = 160;

/** Ports of the servers: one is permitted by the policies of the test, the other is not. */
export const OPEN_PORT = 8080;
export const CLOSED_PORT = 8081;
