/** Commands of a station: a line of JSON each, with a number that its reply repeats. */
import type { Answer, Protocol, Target } from '#test/services/service-cluster.ts';

export type Command =
  | {
      readonly do: 'serve';
      readonly protocol: Protocol;
      /** Default: all. A UDP server of a host needs its own one, or the kernel chooses another for replies. */
      readonly address: string;
      readonly port: number;
      /** Name with which it answers. */
      readonly name: string;
    }
  | { readonly do: 'connect'; readonly target: Target; readonly count: number }
  | { readonly do: 'open'; readonly target: Target; readonly count: number }
  /** Sends over open connections. */
  | { readonly do: 'check'; readonly ids: readonly number[] }
  | { readonly do: 'close'; readonly ids: readonly number[] }
  /** Opens a connection over which a message goes out and returns all the time. */
  | { readonly do: 'openFlow'; readonly target: Target }
  | { readonly do: 'readFlow'; readonly id: number }
  /** Sends a datagram each millisecond. */
  | { readonly do: 'probe'; readonly target: Target; readonly seconds: number }
  /** Sends datagrams, each from a port of its own, until one is answered. */
  | { readonly do: 'firstAnswer'; readonly target: Target }
  /** Sends bytes to a server that returns them. */
  | { readonly do: 'transfer'; readonly target: Target; readonly megabytes: number };

export interface Replies {
  readonly serve: null;
  readonly connect: readonly Answer[];
  readonly open: readonly { readonly id: number; readonly answer: Answer }[];
  /** Ids of those over which nothing returned. */
  readonly check: readonly number[];
  readonly close: null;
  readonly openFlow: { readonly id: number; readonly answer: Answer };
  readonly readFlow: FlowReport;
  readonly probe: ProbeReport;
  /** When the answer came, in milliseconds since 1970. */
  readonly firstAnswer: number;
  readonly transfer: Answer;
}

export interface FlowReport {
  /** Milliseconds since 1970. */
  readonly lastReturnedAt: number;
  /** Between two messages that returned, since the report before. */
  readonly longestGapMs: number;
}

export interface ProbeReport {
  readonly sent: number;
  readonly answered: number;
}

/** A connection that is open, or was answered otherwise. */
export interface Connection {
  readonly answer: Answer;
  /** Whether a message still returns from the same backend. */
  check(limitMs?: number): Promise<boolean>;
  close(): void;
}

/** Enough for two repetitions of a lost SYN. */
export const LIMIT_MS = 5000;

/** EPERM: a datagram that the rules of this host reject. ENETUNREACH: a router of IPv6 has no route. */
const REFUSALS: readonly unknown[] = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPERM',
];

/** @throws other errors than a refusal */
export function answerOf(error: NodeJS.ErrnoException): Answer {
  if (REFUSALS.includes(error.code)) return { result: 'refused' };
  if (error.code === 'ETIMEDOUT') return { result: 'timeout' };
  throw error;
}

/** Resolves to undefined when the time is over. */
export function within<T>(limitMs: number, promise: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), limitMs);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
