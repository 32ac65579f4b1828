import type { InterfaceCounters, NodeErrorCounter } from '#plugins/controller/api/ports/stats.ts';
import type { Interfaces } from './interfaces.ts';

type Counts = Pick<
  InterfaceCounters,
  'rxPackets' | 'rxBytes' | 'txPackets' | 'txBytes' | 'drops' | 'ip4'
>;

type Counter = keyof Counts;

const none: Counts = {
  rxPackets: 0n,
  rxBytes: 0n,
  txPackets: 0n,
  txBytes: 0n,
  drops: 0n,
  ip4: 0n,
};

/** Counts packets that a model of traffic says that VPP has forwarded, until the process ends. */
export class TrafficCounters {
  readonly #interfaces: Interfaces;
  /** By index of the interface. */
  readonly #counts = new Map<number, Counts>();
  /** By graph node and reason. */
  readonly #errors = new Map<string, NodeErrorCounter>();

  constructor(interfaces: Interfaces) {
    this.#interfaces = interfaces;
    interfaces.onRemove(({ index }) => this.#counts.delete(index));
  }

  /** @param name tag of an interface, or VPP's name of one without a tag; another one is not counted */
  receive(name: string, packets: number, bytes: number): void {
    this.#add(name, { rxPackets: packets, rxBytes: bytes, ip4: packets });
  }

  send(name: string, packets: number, bytes: number): void {
    this.#add(name, { txPackets: packets, txBytes: bytes });
  }

  /** @param name of the interface by which they came */
  drop(name: string, packets: number): void {
    this.#add(name, { drops: packets });
  }

  /** Counts for the reason of a graph node, such as `ACL deny packets` of `acl-plugin-in-ip4-fa`. */
  error(node: string, reason: string, packets: number): void {
    const key = `${node}/${reason}`;
    const before = this.#errors.get(key)?.count ?? 0n;
    this.#errors.set(key, { node, reason, count: before + BigInt(packets) });
  }

  of(index: number): Counts {
    return this.#counts.get(index) ?? none;
  }

  errors(): readonly NodeErrorCounter[] {
    return [...this.#errors.values()];
  }

  #add(name: string, growth: Partial<Readonly<Record<Counter, number>>>): void {
    const found = this.#interfaces.all().find((one) => (one.tag || one.name) === name);
    if (found === undefined) return;
    const counts = { ...this.of(found.index) } as { -readonly [Key in Counter]: bigint };
    for (const [counter, count] of Object.entries(growth))
      counts[counter as Counter] += BigInt(count);
    this.#counts.set(found.index, counts);
  }
}
