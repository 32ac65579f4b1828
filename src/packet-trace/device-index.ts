/** Lookup in the configuration of a device: interfaces and neighbors by address, routes by prefix. */
import { type AddressNumber, addressNumber, firstAddress, network } from './addresses.ts';
import type { Device, Interface, Neighbor, Route } from './snapshot.ts';
import { tableOf } from './table-of.ts';

/** Routes of one prefix: of connected networks, of the routing table, to neighbors. */
type Candidates = readonly [Route[], Route[], Route[]];

interface Prefixes {
  readonly length: number;
  readonly byFirst: Map<AddressNumber, Candidates>;
}

export class DeviceIndex {
  readonly #interfaces = new Map<string, Interface>();
  readonly #otherAddresses: ReadonlySet<AddressNumber | undefined>;
  readonly #neighbors = new Map<string, Neighbor>();
  /** By table and family, the longest first. */
  readonly #prefixes = new Map<string, Prefixes[]>();

  static of(device: Device): DeviceIndex {
    const known = indexes.get(device) ?? new DeviceIndex(device);
    indexes.set(device, known);
    return known;
  }

  private constructor(device: Device) {
    for (const one of device.interfaces.values()) {
      if (!one.enabled) continue;
      for (const address of one.addresses) {
        const number = addressNumber(address);
        const table = tableOf(one, address);
        if (number !== undefined)
          setFirst(this.#interfaces, keyOf(table, familyOf(number), number), one);
        this.#addRoute(directRoute(one.name, table, address, one.key), 0);
      }
    }
    this.#otherAddresses = new Set(device.otherAddresses.map(addressNumber));
    for (const route of device.routes) this.#addRoute(route, 1);
    for (const one of device.neighbors) {
      const number = addressNumber(one.address);
      if (number === undefined) continue;
      setFirst(this.#neighbors, keyOf(one.interface, familyOf(number), number), one);
      const holder = device.interfaces.get(one.interface);
      if (device.routesToNeighbors && holder?.enabled)
        this.#addRoute(
          directRoute(one.interface, tableOf(holder, one.address), one.address, one.key),
          2,
        );
    }
    for (const prefixes of this.#prefixes.values()) prefixes.sort((a, b) => b.length - a.length);
  }

  /** The interface that is enabled and has the address. */
  interfaceOf(table: number, address: string): Interface | undefined {
    const number = addressNumber(address);
    return number === undefined
      ? undefined
      : this.#interfaces.get(keyOf(table, familyOf(number), number));
  }

  isOtherAddress(address: string): boolean {
    const number = addressNumber(address);
    return number !== undefined && this.#otherAddresses.has(number);
  }

  neighbor(interfaceName: string, address: string): Neighbor | undefined {
    const number = addressNumber(address);
    return number === undefined
      ? undefined
      : this.#neighbors.get(keyOf(interfaceName, familyOf(number), number));
  }

  /**
   * All routes with the longest matching prefix. For equal lengths, connected networks precede routes, and
   * routes precede neighbors.
   */
  longest(table: number, address: string): readonly Route[] {
    const number = addressNumber(address);
    if (number === undefined) return [];
    for (const { length, byFirst } of this.#prefixes.get(keyOf(table, familyOf(number))) ?? []) {
      const found = byFirst.get(firstAddress(number, length));
      if (found) return found.find((routes) => routes.length > 0) ?? [];
    }
    return [];
  }

  #addRoute(route: Route, rank: 0 | 1 | 2): void {
    const to = network(route.destination);
    if (to === undefined) return;
    const key = keyOf(route.table, familyOf(to.first));
    const prefixes = this.#prefixes.get(key) ?? [];
    this.#prefixes.set(key, prefixes);
    let same = prefixes.find(({ length }) => length === to.length);
    if (same === undefined) {
      same = { length: to.length, byFirst: new Map() };
      prefixes.push(same);
    }
    const candidates: Candidates = same.byFirst.get(to.first) ?? [[], [], []];
    same.byFirst.set(to.first, candidates);
    candidates[rank].push(route);
  }
}

const indexes = new WeakMap<Device, DeviceIndex>();

function familyOf(address: AddressNumber): 4 | 6 {
  return typeof address === 'number' ? 4 : 6;
}

function keyOf(...parts: readonly (string | AddressNumber)[]): string {
  return parts.join(' ');
}

function setFirst<T>(entries: Map<string, T>, key: string, entry: T): void {
  if (!entries.has(key)) entries.set(key, entry);
}

function directRoute(name: string, table: number, destination: string, key: string): Route {
  const action = { kind: 'via', interface: name, nextHop: undefined } as const;
  return { table, destination, preference: 0, action, key };
}
