/** One end: an interface of a simulated VPP. */
export interface WireguardEnd {
  /** Base64. */
  readonly publicKey: string;
  /** Whether it is up and has this key as a peer. */
  accepts(publicKey: string): boolean;
  /** The other ends may have changed. */
  refresh(): void;
}

/**
 * The ends that simulated VPPs can make sessions with. A key that no end has belongs to a node outside of the simulation, which
 * answers.
 */
export class WireguardLinks {
  readonly #ends = new Map<string, WireguardEnd>();
  readonly #silent = new Set<string>();

  add(end: WireguardEnd): void {
    this.#ends.set(end.publicKey, end);
  }

  remove({ publicKey }: WireguardEnd): void {
    this.#ends.delete(publicKey);
  }

  /** The node with this key does not answer from now on, or answers again. */
  setSilent(publicKey: string, isSilent: boolean): void {
    if (isSilent) this.#silent.add(publicKey);
    else this.#silent.delete(publicKey);
    this.changed();
  }

  answers(own: string, peer: string): boolean {
    return !this.#silent.has(peer) && (this.#ends.get(peer)?.accepts(own) ?? true);
  }

  changed(): void {
    for (const end of this.#ends.values()) end.refresh();
  }
}
