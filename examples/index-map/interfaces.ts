/** The data of the examples: interfaces, and the component that publishes them. */
import { IndexMap, type NamedMapping, silentLogger } from 'contiv-vswitch';

export interface Interface {
  readonly vrf: number;
  readonly addresses: readonly string[];
}

export class Interfaces {
  /** Secondary indexes: a value of a field finds the names of its interfaces. */
  readonly #map = new IndexMap<Interface>('interfaces', silentLogger, ({ vrf, addresses }) => ({
    vrf: [`${vrf}`],
    address: addresses,
  }));

  /** Read access for other components, which cannot write. */
  get map(): NamedMapping<Interface> {
    return this.#map;
  }

  configure(name: string, value: Interface): void {
    this.#map.put(name, value);
  }

  remove(name: string): void {
    this.#map.delete(name);
  }
}
