/** The messages and processes of an agent and their replies, in order. */
export type RecordedEntry = { /** Milliseconds since the epoch. */ readonly at: number } & (
  | { /** Bytes to VPP, base64. */ readonly kind: 'sent'; readonly bytes: string }
  | { /** Bytes from VPP, base64. */ readonly kind: 'received'; readonly bytes: string }
  | ({ readonly kind: 'started'; readonly id: number } & RecordedProcess)
  | { readonly kind: 'ended'; readonly id: number }
);

export interface RecordedProcess {
  readonly command: string;
  readonly args: readonly string[];
  readonly input: string;
  /** Targets of its file descriptors 3, 4, …: a path or `net:[<inode>]`. */
  readonly files: readonly string[];
}

/** Entries to replay and to time. */
export interface ReplayRequest {
  readonly entries: readonly RecordedEntry[];
  /** Path in the replaying node, by namespace of the recorded node (link target of the descriptor). */
  readonly namespaces: Readonly<Record<string, string>>;
}

export interface ReplayResult {
  readonly ms: number;
}

export function now(): number {
  return performance.timeOrigin + performance.now();
}
