/** What an agent did to its surroundings and what came back, in the order in which it happened. */
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
  /** What the descriptors 3, 4, … of it led to: a path, or `net:[<inode>]`. */
  readonly files: readonly string[];
}

/** What a player is told to do, and to time. */
export interface ReplayRequest {
  readonly entries: readonly RecordedEntry[];
  /** Namespaces of the recorded node, as links of descriptors, to paths of the player's. */
  readonly namespaces: Readonly<Record<string, string>>;
}

export interface ReplayResult {
  readonly ms: number;
}

export function now(): number {
  return performance.timeOrigin + performance.now();
}
