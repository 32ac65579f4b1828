/** Lookup in the configuration of a NAT44, as VPP looks up: exact keys, first with the port, then without. */
import type { NatConfig, NatIdentity, NatMapping, NatPoolAddress } from './nat-config.ts';
import type { Protocol } from './packet.ts';

/** A mapping or an identity. VPP keeps both in one table, so an address and port has at most one. */
export type NatEntry =
  | { readonly kind: 'mapping'; readonly mapping: NatMapping }
  | { readonly kind: 'identity'; readonly identity: NatIdentity };

/** Table in which VPP looks up what it finds in no other; the agent configures no other one. */
export const DEFAULT_TABLE = 0;

export class NatIndex {
  readonly config: NatConfig;
  readonly #byExternal = new Map<string, NatEntry>();
  readonly #byLocal = new Map<string, NatEntry>();
  readonly #sides = new Map<string, Set<string>>();

  static of(config: NatConfig): NatIndex {
    const known = indexes.get(config) ?? new NatIndex(config);
    indexes.set(config, known);
    return known;
  }

  private constructor(config: NatConfig) {
    this.config = config;
    for (const identity of config.identities) {
      const entry: NatEntry = { kind: 'identity', identity };
      const key = keyOf(identity.address, identity.port, identity.protocol);
      setFirst(this.#byExternal, key, entry);
      setFirst(this.#byLocal, `${key} ${identity.table}`, entry);
    }
    for (const mapping of config.mappings) {
      const entry: NatEntry = { kind: 'mapping', mapping };
      setFirst(this.#byExternal, keyOf(mapping.address, mapping.port, mapping.protocol), entry);
      if (mapping.isOut2inOnly) continue;
      for (const { address, port, table } of mapping.backends) {
        // VPP registers several backends in its first table, whatever their own is
        const where = mapping.backends.length > 1 ? DEFAULT_TABLE : table;
        setFirst(this.#byLocal, `${keyOf(address, port, mapping.protocol)} ${where}`, entry);
      }
    }
    for (const { interface: name, side } of config.features)
      this.#sides.set(name, (this.#sides.get(name) ?? new Set()).add(side));
  }

  sides(name: string): ReadonlySet<string> {
    return this.#sides.get(name) ?? none;
  }

  /** Names of interfaces by which traffic leaves or enters from outside, in the order of configuration. */
  get outsides(): readonly string[] {
    return this.config.features
      .filter(({ side }) => side === 'out' || side === 'output')
      .map((one) => one.interface);
  }

  /** The entry of exactly this key. */
  exact(address: string, port: number, protocol: Protocol): NatEntry | undefined {
    return this.#byExternal.get(keyOf(address, port, protocol));
  }

  /** The entry that has the external address, and the port or all ports. */
  byExternal(address: string, port: number, protocol: Protocol): NatEntry | undefined {
    return this.exact(address, port, protocol) ?? this.exact(address, 0, protocol);
  }

  /** The entry of an inside address, in a table or else in the default table. */
  byLocal(address: string, port: number, protocol: Protocol, table: number): NatEntry | undefined {
    for (const where of [table, DEFAULT_TABLE]) {
      const found =
        this.#byLocal.get(`${keyOf(address, port, protocol)} ${where}`) ??
        this.#byLocal.get(`${keyOf(address, 0, protocol)} ${where}`);
      if (found) return found;
    }
    return undefined;
  }

  isInPool(address: string): boolean {
    return this.config.pool.some((one) => one.address === address);
  }
}

const indexes = new WeakMap<NatConfig, NatIndex>();
const none: ReadonlySet<string> = new Set();

function keyOf(address: string, port: number, protocol: Protocol): string {
  return port === 0 ? address : `${protocol} ${address}:${port}`;
}

function setFirst(entries: Map<string, NatEntry>, key: string, entry: NatEntry): void {
  if (!entries.has(key)) entries.set(key, entry);
}

/**
 * The address of a pool for a source address: VPP begins at a place that depends on the source address.
 * @param pool of source NAT or of twice-NAT, which choose differently
 */
export function poolAddress(
  addresses: readonly NatPoolAddress[],
  source: string,
  table: number,
  pool: 'source' | 'twice',
): NatPoolAddress | undefined {
  if (addresses.length === 0) return undefined;
  const start = startOf(source, pool) % addresses.length;
  const rotated = [...addresses.slice(start), ...addresses.slice(0, start)];
  const exact = rotated.filter((one) => one.table === table);
  const any = rotated.filter((one) => one.table === undefined);
  if (pool === 'source') return exact.at(-1) ?? any.at(-1);
  // a mistake of VPP: it finds an address for any table, and takes the last one that it has looked at
  return exact[0] ?? (any.length > 0 ? rotated.at(-1) : undefined);
}

/** VPP reads the address as a little-endian number. */
function startOf(source: string, pool: 'source' | 'twice'): number {
  const number = Buffer.from(source.split('.').map(Number)).readUInt32LE();
  if (pool === 'twice') return number;
  return (number + (number >>> 8) + (number >>> 16) + (number >>> 24)) >>> 0;
}
