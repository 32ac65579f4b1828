import { type Cidr, contains, parseIp } from '#models/ip.ts';
import { fromAddress } from '../../binapi/addresses.ts';
import type { IpNeighbor } from '../../binapi/messages.gen.ts';

interface Entry {
  readonly bytes: Uint8Array;
  readonly neighbor: IpNeighbor;
}

/**
 * Configured neighbors that are not static. VPP removes them with an address of their interface that covers
 * them, so the descriptor that deletes the address adds them again.
 */
export class LearnedNeighbors {
  /** By interface and address. */
  #entries = new Map<number, Map<string, Entry>>();

  /** Called with all configured neighbors that are not static and were just read back. */
  replaceAll(neighbors: readonly IpNeighbor[]): void {
    this.#entries = new Map();
    for (const neighbor of neighbors) this.add(neighbor);
  }

  add(neighbor: IpNeighbor): void {
    const { sw_if_index, ip_address } = neighbor;
    const address = fromAddress(ip_address);
    const bytes = parseIp(address);
    if (bytes === undefined) return;
    const entries = this.#entries.get(sw_if_index) ?? new Map<string, Entry>();
    this.#entries.set(sw_if_index, entries.set(address, { bytes, neighbor }));
  }

  remove({ sw_if_index, ip_address }: IpNeighbor): void {
    const entries = this.#entries.get(sw_if_index);
    entries?.delete(fromAddress(ip_address));
    if (entries?.size === 0) this.#entries.delete(sw_if_index);
  }

  /** Those that VPP removes with this address. */
  coveredBy(swIfIndex: number, address: Cidr): readonly IpNeighbor[] {
    const entries = this.#entries.get(swIfIndex)?.values() ?? [];
    return [...entries]
      .filter(({ bytes }) => contains(address, bytes))
      .map(({ neighbor }) => neighbor);
  }
}
