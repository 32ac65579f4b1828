import type { Clock } from '#infra/clock/clock.ts';
import type { MapEntries } from '../bpf/map.ts';
import type { NodeAddress } from './api.ts';
import {
  addressOf,
  decodeNodeAddress,
  encodeAddress,
  encodeNodeAddress,
  nodePortAt,
} from './layout.ts';

/** Addresses of nodes in their map, known since the last reading. */
export class NodeAddressEntries {
  readonly #map: MapEntries;
  /** Their frontends of node ports; addresses as text of their bytes. */
  #known = new Map<string, Buffer>();

  constructor(map: MapEntries) {
    this.#map = map;
  }

  async read(clock: Clock): Promise<void> {
    const entries = await this.#map.entries(clock);
    this.#known = new Map(entries.map(([address, one]) => [address.toString('latin1'), one]));
  }

  get size(): number {
    return this.#known.size;
  }

  all(): readonly NodeAddress[] {
    return [...this.#known].map(([address, one]) =>
      decodeNodeAddress(Buffer.from(address, 'latin1'), one),
    );
  }

  /** @returns whether clients of the address may have reached other node ports before */
  set(one: NodeAddress): boolean {
    const [address, nodePort] = encodeNodeAddress(one);
    const text = address.toString('latin1');
    const before = this.#known.get(text);
    if (before?.equals(nodePort)) return false;
    this.#map.set(address, nodePort);
    this.#known.set(text, nodePort);
    return before !== undefined;
  }

  /** @returns whether it was there */
  delete(address: string): boolean {
    const bytes = encodeAddress(address);
    this.#map.delete(bytes);
    return this.#known.delete(bytes.toString('latin1'));
  }

  /** The frontend that a client reaches who asks this one, if its address is that of a node. */
  nodePortAt(asked: Buffer): Buffer | undefined {
    const found = this.#known.get(addressOf(asked).toString('latin1'));
    return found && nodePortAt(found, asked);
  }
}
