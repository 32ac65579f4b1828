/** The keys of WireGuard of this node, without what is secret of them. */

/** Two nodes have two sessions, each by the keys of one slot. */
export const slots = [0, 1] as const;
export type Slot = (typeof slots)[number];

export interface OwnKey {
  /** Base64. */
  readonly publicKey: string;
  /** Milliseconds since the epoch, by a clock that may have been wrong. */
  readonly made: number;
  /** It is to be replaced by command, whatever its age is. */
  readonly isUnwanted: boolean;
}

/** A replacement that is under way; it continues after a crash. */
export interface KeyReplacement {
  readonly slot: Slot;
  /** The slot has its new key. Before that, the other nodes stop to use the old one. */
  readonly isNew: boolean;
}

export interface OwnKeys {
  /** By slot. */
  readonly keys: readonly [OwnKey, OwnKey];
  readonly replacement?: KeyReplacement;
}

export interface OwnKeysPort {
  /**
   * The keys on the disk; keys that are missing are made.
   * @throws KeyFileError
   */
  ownKeys(): Promise<OwnKeys>;
}
