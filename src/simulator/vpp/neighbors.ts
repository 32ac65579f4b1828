import type { Clock } from '#infra/clock/clock.ts';
import { contains } from '#models/ip.ts';
import { fromAddress, fromMac, toAddress, toMac } from '#vpp/binapi/addresses.ts';
import type { Addresses } from './addresses.ts';
import { type Family, type Fib, type FibTable, pathOf, source } from './fib.ts';
import type { Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { NONE, retval } from './retval.ts';

const flag = { static: 1, noFibEntry: 2 };

interface Neighbor {
  readonly index: number;
  readonly address: string;
  mac: string;
  flags: number;
  updated: number;
  /** Table of its /32 or /128 entry. */
  table: FibTable | undefined;
}

interface Config {
  readonly max_number: number;
  readonly max_age: number;
  readonly recycle: boolean;
}

function familyOf(af: number): Family | undefined {
  return af === 0 ? 4 : af === 1 ? 6 : undefined;
}

function keyOf(index: number, address: string): string {
  return `${index} ${address}`;
}

function isOf(neighbor: Neighbor, family: Family): boolean {
  return neighbor.address.includes(':') === (family === 6);
}

function isDynamic({ flags }: Neighbor): boolean {
  return (flags & flag.static) === 0;
}

/** The neighbor table (ARP and ND) and its aging. */
export class Neighbors {
  readonly #interfaces: Interfaces;
  readonly #addresses: Addresses;
  readonly #fib: Fib;
  readonly #clock: Clock;
  /** In the order of their creation. */
  readonly #all = new Map<string, Neighbor>();
  readonly #config: Record<Family, Config>;

  constructor(deps: { interfaces: Interfaces; addresses: Addresses; fib: Fib; clock: Clock }) {
    this.#interfaces = deps.interfaces;
    this.#addresses = deps.addresses;
    this.#fib = deps.fib;
    this.#clock = deps.clock;
    const config = { max_number: 50_000, max_age: 0, recycle: false };
    this.#config = { 4: config, 6: config };
    this.#interfaces.onRemove(({ index }) => this.#drop((known) => known.index === index));
    this.#addresses.onBind((iface, family) =>
      this.#follow(iface.index, family, this.#addresses.tableOf(iface, family)),
    );
    this.#interfaces.onAdmin(({ index, adminUp }) => {
      if (adminUp) return;
      this.#drop((known) => known.index === index && isDynamic(known));
    });
    this.#addresses.onAddress(({ index }, cidr, isAdd) => {
      if (isAdd) return;
      const isCovered = (known: Neighbor) => contains(cidr, this.#prefix(known).address);
      this.#drop((known) => known.index === index && isDynamic(known) && isCovered(known));
    });
  }

  /** VPP also adds entries for neighbors with the no-FIB-entry flag here. */
  #follow(index: number, family: Family, table: FibTable): void {
    for (const known of this.#all.values()) {
      if (known.index !== index || !isOf(known, family)) continue;
      this.#withdraw(known);
      known.table = table;
      this.#announce(known);
    }
  }

  #announce(known: Neighbor): void {
    const { table } = known;
    if (!table) return;
    this.#fib.addPaths(table, this.#prefix(known), source.adjacency, [this.#path(known)]);
    this.#fib.lock(table, 'neighbors');
  }

  #drop(matches: (neighbor: Neighbor) => boolean): void {
    for (const [key, known] of this.#all)
      if (matches(known)) {
        this.#withdraw(known);
        this.#all.delete(key);
      }
  }

  #path({ address, index }: Neighbor) {
    const { un, af } = toAddress(address);
    return pathOf(af === 1 ? 6 : 4, { sw_if_index: index, nextHop: un });
  }

  #prefix({ address }: Neighbor) {
    const { un, af } = toAddress(address);
    return af === 1 ? { address: un, length: 128 } : { address: un.subarray(0, 4), length: 32 };
  }

  #withdraw(known: Neighbor): void {
    const { table } = known;
    if (!table) return;
    this.#fib.removePaths(table, this.#prefix(known), source.adjacency, [this.#path(known)]);
    this.#fib.unlock(table, 'neighbors');
  }

  #add(index: number, address: string, mac: string, flags: number): number {
    const iface = this.#interfaces.get(index);
    if (!iface) return retval.INVALID_SW_IF_INDEX;
    const key = keyOf(index, address);
    const known = this.#all.get(key);
    const updated = this.#clock.monotonic();
    if (known) {
      const weaker = (flags & flag.static) === 0 && (known.flags & flag.static) !== 0;
      if (weaker && known.mac !== mac) return -2; // the value that VPP returns here
      known.flags |= flags & flag.static;
      known.mac = mac;
      known.updated = updated;
      return 0;
    }
    const family = address.includes(':') ? 6 : 4;
    const table =
      (flags & flag.noFibEntry) === 0 ? this.#addresses.tableOf(iface, family) : undefined;
    const created: Neighbor = { index, address, mac, flags, updated, table };
    this.#all.set(key, created);
    this.#announce(created);
    return 0;
  }

  handlers(): MessageHandlers {
    return {
      requests: {
        ip_neighbor_add_del: ({ is_add, neighbor }) => {
          const { sw_if_index, flags } = neighbor;
          const address = fromAddress(neighbor.ip_address);
          if (is_add) {
            const refused = this.#add(sw_if_index, address, fromMac(neighbor.mac_address), flags);
            return refused === 0 ? { stats_index: 0 } : refused;
          }
          if (!this.#interfaces.get(sw_if_index)) return retval.INVALID_SW_IF_INDEX;
          const key = keyOf(sw_if_index, address);
          const known = this.#all.get(key);
          if (!known) return retval.NO_SUCH_ENTRY;
          this.#withdraw(known);
          this.#all.delete(key);
          return { stats_index: NONE };
        },

        ip_neighbor_config: ({ af, max_number, max_age, recycle }) => {
          const family = familyOf(af);
          if (!family) return retval.INVALID_ADDRESS_FAMILY;
          this.#config[family] = { max_number, max_age, recycle };
          return 0;
        },
        ip_neighbor_config_get: ({ af }) => {
          const family = familyOf(af);
          return family ? { af, ...this.#config[family] } : retval.INVALID_ADDRESS_FAMILY;
        },
      },
      dumps: {
        ip_neighbor_dump: ({ sw_if_index, af }) => {
          const family = familyOf(af);
          return [...this.#all.values()]
            .filter((known) => family !== undefined && isOf(known, family))
            .filter((known) => sw_if_index === NONE || known.index === sw_if_index)
            .sort((a, b) => a.index - b.index)
            .map((known) => ({
              age: (this.#clock.monotonic() - known.updated) / 1000,
              neighbor: {
                sw_if_index: known.index,
                flags: known.flags,
                mac_address: toMac(known.mac),
                ip_address: toAddress(known.address),
              },
            }));
        },
      },
      snapshot: () => ({
        neighbors: [...this.#all.values()]
          .map(({ index, address, mac, flags }) => {
            const words = [`${address} ${mac} dev ${this.#interfaces.nameOf(index)}`];
            if (flags & flag.static) words.push('static');
            if (flags & flag.noFibEntry) words.push('no-fib-entry');
            return words.join(' ');
          })
          .sort(),
        neighborAging: { ipv4: this.#config[4], ipv6: this.#config[6] },
      }),
    };
  }
}
