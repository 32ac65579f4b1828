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
  static readonly none = new PortSet([], false);
  /** Every port of every protocol, and protocols without ports, for example ICMP. */
  static readonly any = new PortSet([], true);

  readonly isAny: boolean;
  /** TCP, UDP, SCTP, each ascending; neither overlapping nor adjacent. Empty if `isAny`. */
  readonly ranges: readonly ProtocolPorts[];
  #text: string | undefined;

  private constructor(ranges: readonly ProtocolPorts[], isAny: boolean) {
    this.ranges = ranges;
    this.isAny = isAny;
  }

  /** Ranges outside of 1 to 65535, and ranges that end before they begin, are cut or left out. */
  static of(ports: Iterable<ProtocolPorts>): PortSet {
    const ranges: ProtocolPorts[] = [];
    for (const { protocol, ...range } of [...ports].sort(inOrder)) {
      const first = Math.max(range.first, FIRST);
      const last = Math.min(range.last, LAST);
      if (first > last) continue;
      const before = ranges.at(-1);
      if (before?.protocol !== protocol || before.last + 1 < first)
        ranges.push({ protocol, first, last });
      else if (before.last < last)
        ranges[ranges.length - 1] = { protocol, first: before.first, last };
    }
    return ranges.length === 0 ? PortSet.none : new PortSet(ranges, false);
  }

  static union(sets: Iterable<PortSet>): PortSet {
    const all = [...sets];
    if (all.some(({ isAny }) => isAny)) return PortSet.any;
    const first = all[0];
    if (first !== undefined && all.length === 1) return first;
    return PortSet.of(all.flatMap(({ ranges }) => ranges));
  }

  get isEmpty(): boolean {
    return !this.isAny && this.ranges.length === 0;
  }

  has(protocol: PolicyProtocol, port: number): boolean {
    if (this.isAny) return true;
    return this.ranges.some(
      (range) => range.protocol === protocol && range.first <= port && port <= range.last,
    );
  }

  intersect(other: PortSet): PortSet {
    if (this.isAny) return other;
    if (other.isAny) return this;
    const common: ProtocolPorts[] = [];
    for (const a of this.ranges)
      for (const b of other.ranges)
        if (a.protocol === b.protocol)
          common.push({
            protocol: a.protocol,
            first: Math.max(a.first, b.first),
            last: Math.min(a.last, b.last),
          });
    return PortSet.of(common);
  }

  /** Equal for equal sets: `any`, `none`, or for example `TCP 80, TCP 8080-8090, UDP 1-65535`. */
  get text(): string {
    this.#text ??= this.#format();
    return this.#text;
  }

  #format(): string {
    if (this.isAny) return 'any';
    if (this.isEmpty) return 'none';
    return this.ranges
      .map(({ protocol, first, last }) =>
        first === last ? `${protocol} ${first}` : `${protocol} ${first}-${last}`,
      )
      .join(', ');
  }
}

function inOrder(a: ProtocolPorts, b: ProtocolPorts): number {
  if (a.protocol === b.protocol) return a.first - b.first;
  return policyProtocols.indexOf(a.protocol) - policyProtocols.indexOf(b.protocol);
}
