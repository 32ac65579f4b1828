/** Sets of ports for each protocol, immutable. */

export const policyProtocols = ['TCP', 'UDP', 'SCTP'] as const;

export type PolicyProtocol = (typeof policyProtocols)[number];

/** Inclusive. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

export interface ProtocolPorts extends PortRange {
  readonly protocol: PolicyProtocol;
}

const FIRST = 1;
const LAST = 65_535;

/** Every port of a protocol. */
export const allPorts: PortRange = { first: FIRST, last: LAST };

export class PortSet {
  static readonly none = new PortSet(new Map(), false);
  /** Every port of every protocol, and protocols without ports, for example ICMP. */
  static readonly any = new PortSet(new Map(), true);

  readonly isAny: boolean;
  /** Ascending; neither overlapping nor adjacent; no entry without a range. Empty if `isAny`. */
  readonly #ranges: ReadonlyMap<PolicyProtocol, readonly PortRange[]>;
  #text: string | undefined;

  private constructor(ranges: ReadonlyMap<PolicyProtocol, readonly PortRange[]>, isAny: boolean) {
    this.#ranges = ranges;
    this.isAny = isAny;
  }

  /** Ranges outside of 1 to 65535, and ranges that end before they begin, are cut or left out. */
  static of(ports: Iterable<ProtocolPorts>): PortSet {
    const byProtocol = Map.groupBy(ports, ({ protocol }) => protocol);
    const ranges = new Map<PolicyProtocol, readonly PortRange[]>();
    for (const protocol of policyProtocols) {
      const found = merged(byProtocol.get(protocol) ?? []);
      if (found.length > 0) ranges.set(protocol, found);
    }
    return ranges.size === 0 ? PortSet.none : new PortSet(ranges, false);
  }

  static union(sets: Iterable<PortSet>): PortSet {
    const all = [...sets];
    if (all.some(({ isAny }) => isAny)) return PortSet.any;
    const first = all[0];
    if (first !== undefined && all.length === 1) return first;
    return PortSet.of(all.flatMap((set) => set.ranges()));
  }

  get isEmpty(): boolean {
    return !this.isAny && this.#ranges.size === 0;
  }

  has(protocol: PolicyProtocol, port: number): boolean {
    if (this.isAny) return true;
    const ranges = this.#ranges.get(protocol) ?? [];
    return ranges.some(({ first, last }) => first <= port && port <= last);
  }

  intersect(other: PortSet): PortSet {
    if (this.isAny) return other;
    if (other.isAny) return this;
    const common: ProtocolPorts[] = [];
    for (const [protocol, ranges] of this.#ranges) {
      for (const a of ranges) {
        for (const b of other.#ranges.get(protocol) ?? [])
          common.push({
            protocol,
            first: Math.max(a.first, b.first),
            last: Math.min(a.last, b.last),
          });
      }
    }
    return PortSet.of(common);
  }

  /** TCP, UDP, SCTP, each ascending; empty if `isAny`. */
  ranges(): readonly ProtocolPorts[] {
    return [...this.#ranges].flatMap(([protocol, ranges]) =>
      ranges.map(({ first, last }) => ({ protocol, first, last })),
    );
  }

  /** Equal for equal sets: `any`, `none`, or for example `TCP 80, TCP 8080-8090, UDP 1-65535`. */
  get text(): string {
    this.#text ??= this.#format();
    return this.#text;
  }

  #format(): string {
    if (this.isAny) return 'any';
    if (this.isEmpty) return 'none';
    return this.ranges()
      .map(({ protocol, first, last }) =>
        first === last ? `${protocol} ${first}` : `${protocol} ${first}-${last}`,
      )
      .join(', ');
  }
}

function merged(ranges: readonly PortRange[]): readonly PortRange[] {
  const valid = ranges
    .map(({ first, last }) => ({ first: Math.max(first, FIRST), last: Math.min(last, LAST) }))
    .filter(({ first, last }) => first <= last)
    .sort((a, b) => a.first - b.first);
  const result: PortRange[] = [];
  for (const range of valid) {
    const before = result.at(-1);
    if (before === undefined || before.last + 1 < range.first) result.push(range);
    else if (before.last < range.last)
      result[result.length - 1] = { first: before.first, last: range.last };
  }
  return result;
}
