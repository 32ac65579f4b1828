import type { NatDirection } from '#packet-trace/nat-session.ts';
import type { TcpFlag } from '#packet-trace/packet.ts';

/** The state of a TCP connection as NAT44 tracks it: it decides about the timeout of the session. */
export class TcpConnection {
  #state: 'closed' | 'established' | 'closing' = 'closed';
  readonly #seen: Record<NatDirection, Set<TcpFlag>> = { in2out: new Set(), out2in: new Set() };

  get isEstablished(): boolean {
    return this.#state === 'established';
  }

  see(direction: NatDirection, flags: readonly TcpFlag[]): void {
    const seen = this.#seen[direction];
    const before = seen.size;
    for (const flag of flags) seen.add(flag);
    if (seen.size === before) return;
    if (this.#state === 'established') {
      if (!seen.has('FIN') && !seen.has('RST')) return;
      this.#state = 'closing';
      for (const each of Object.values(this.#seen)) each.clear();
    } else if (this.#isOpenedByBoth()) this.#state = 'established';
  }

  /** SYN and ACK, and nothing else, seen in both directions. */
  #isOpenedByBoth(): boolean {
    const { in2out, out2in } = this.#seen;
    const both = [...in2out].filter((flag) => out2in.has(flag));
    return both.length === 2 && both.includes('SYN') && both.includes('ACK');
  }
}
