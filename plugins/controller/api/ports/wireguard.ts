/** Ports between the owner of this node's WireGuard keys and VPP, which has the sessions. */
import type { Secret } from '#models/secret.ts';

/** Private keys of this node. No value has them: the interface asks when VPP makes it. */
export interface WireguardKeys {
  /**
   * @param publicKey base64
   * @returns base64; undefined if this node does not have the key
   */
  privateKeyOf(publicKey: string): Secret | undefined;
}

/** The session of VPP with a peer. */
export interface WireguardSession {
  /** Logical name of the interface. */
  readonly iface: string;
  /** Of the peer, base64. */
  readonly publicKey: string;
  /** VPP has keys for it, and received a packet with these. */
  readonly isEstablished: boolean;
  /** When the agent saw `isEstablished` change, or first saw the peer. */
  readonly since: Date;
}

export interface WireguardSessionPort {
  /** Those that VPP has now: also of peers that the agent has not read back yet. */
  read(): Promise<readonly WireguardSession[]>;
  /** Those of configured peers, as VPP reported last: nothing is read for it. */
  sessions(): readonly WireguardSession[];
  /**
   * Calls the listener with the sessions that were established, or ended, also with their peers: of a key that has another address
   * now, the session that ended is before the one that began.
   * @returns removes the listener
   */
  onChange(listener: (changed: readonly WireguardSession[]) => void): () => void;
}
