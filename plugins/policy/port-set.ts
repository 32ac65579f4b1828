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

/** Some ports, or everything but some ports: then protocols without ports, for example ICMP, are among it. */
export class PortSet {
  static readonly none = new PortSet([], false);
  /** Every port of every protocol, and protocols without ports. */
  static readonly any = new PortSet([], true);

  /** Contains protocols without ports, and every port but the listed ones. */
  readonly isComplement: boolean;
  /** TCP, UDP, SCTP, each ascending; neither overlapping nor adjacent. Of a complement: what it lacks. */
  readonly #listed: readonly ProtocolPorts[];
  #text: string | undefined;

  private constructor(listed: readonly ProtocolPorts[], isComplement: boolean) {
    this.#listed = listed;
    this.isComplement = isComplement;
  }

  /** Ranges outside of 1 to 65535, and ranges that end before they begin, are cut or left out. */
  static of(ports: Iterable<ProtocolPorts>): PortSet {
    const ranges = merged(ports);
    return ranges.length === 0 ? PortSet.none : new PortSet(ranges, false);
  }

  static union(sets: Iterable<PortSet>): PortSet {
    const all = [...sets];
    if (all.some(({ isAny }) => isAny)) return PortSet.any;
    const first = all[0];
    if (first !== undefined && all.length === 1) return first;
    const ports = PortSet.of(all.flatMap(({ ranges }) => ranges));
    const complements = all.filter(({ isComplement }) => isComplement);
    if (complements.length === 0) return ports;
    const lacking = complements
      .map((one) => one.complement())
      .reduce((common, one) => common.intersect(one));
    return lacking.minus(ports).complement();
  }

  get isAny(): boolean {
    return this.isComplement && this.#listed.length === 0;
  }

  get isEmpty(): boolean {
    return !this.isComplement && this.#listed.length === 0;
  }

  /** TCP, UDP, SCTP, each ascending; neither overlapping nor adjacent. Empty for a complement. */
  get ranges(): readonly ProtocolPorts[] {
    return this.isComplement ? [] : this.#listed;
  }

  has(protocol: PolicyProtocol, port: number): boolean {
    const isListed = this.#listed.some(
      (range) => range.protocol === protocol && range.first <= port && port <= range.last,
    );
    return isListed !== this.isComplement;
  }

  /** Everything else. */
  complement(): PortSet {
    if (this.#listed.length === 0) return this.isComplement ? PortSet.none : PortSet.any;
    return new PortSet(this.#listed, !this.isComplement);
  }

  intersect(other: PortSet): PortSet {
    if (this.isAny) return other;
    if (other.isAny) return this;
    if (this.isComplement && other.isComplement)
      return PortSet.of([...this.#listed, ...other.#listed]).complement();
    if (this.isComplement) return other.minus(this.complement());
    if (other.isComplement) return this.minus(other.complement());
    return PortSet.of(common(this.#listed, other.#listed));
  }

  minus(other: PortSet): PortSet {
    if (other.isEmpty) return this;
    if (other.isComplement || this.isComplement) return this.intersect(other.complement());
    return PortSet.of(difference(this.#listed, other.#listed));
  }

  /** Equal for equal sets: `any`, `none`, for example `TCP 80, TCP 8080-8090, UDP 1-65535`, or `any but TCP 80`. */
  get text(): string {
    this.#text ??= this.#format();
    return this.#text;
  }

  #format(): string {
    if (this.isAny) return 'any';
    if (this.isEmpty) return 'none';
    const listed = this.#listed
      .map(({ protocol, first, last }) =>
        first === last ? `${protocol} ${first}` : `${protocol} ${first}-${last}`,
      )
      .join(', ');
    return this.isComplement ? `any but ${listed}` : listed;
  }
}

function merged(ports: Iterable<ProtocolPorts>): readonly ProtocolPorts[] {
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
  return ranges;
}

function common(a: readonly ProtocolPorts[], b: readonly ProtocolPorts[]): ProtocolPorts[] {
  return a.flatMap(({ protocol, first, last }) =>
    b
      .filter((other) => other.protocol === protocol)
      .map((other) => ({
        protocol,
        first: Math.max(first, other.first),
        last: Math.min(last, other.last),
      })),
  );
}

/** @param b ascending */
function difference(a: readonly ProtocolPorts[], b: readonly ProtocolPorts[]): ProtocolPorts[] {
  return a.flatMap(({ protocol, first, last }) => {
    const left: ProtocolPorts[] = [];
    let next = first;
    for (const cut of b) {
      if (cut.protocol !== protocol || cut.last < next) continue;
      left.push({ protocol, first: next, last: Math.min(cut.first - 1, last) });
      next = cut.last + 1;
    }
    return [...left, { protocol, first: next, last }];
  });
}

function inOrder(a: ProtocolPorts, b: ProtocolPorts): number {
  if (a.protocol === b.protocol) return a.first - b.first;
  return policyProtocols.indexOf(a.protocol) - policyProtocols.indexOf(b.protocol);
}
