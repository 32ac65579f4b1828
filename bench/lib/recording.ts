import type { Command } from '#linux/kernel/commands.ts';

/** The messages to VPP and the batches to the kernel of an agent, and their answers, in order. */
export type RecordedEntry = { /** Milliseconds since the epoch. */ readonly at: number } & (
  | { /** Bytes to VPP, base64. */ readonly kind: 'sent'; readonly bytes: string }
  | { /** Bytes from VPP, base64. */ readonly kind: 'received'; readonly bytes: string }
  | { readonly kind: 'started'; readonly id: number; readonly batch: readonly Command[] }
  | { readonly kind: 'ended'; readonly id: number }
);

/** Entries to replay and to time. */
export interface ReplayRequest {
  readonly entries: readonly RecordedEntry[];
  /** Path in the replaying node, by path in the recorded node. */
  readonly namespaces: Readonly<Record<string, string>>;
}

export interface ReplayResult {
  readonly ms: number;
}

export function now(): number {
  return performance.timeOrigin + performance.now();
}
