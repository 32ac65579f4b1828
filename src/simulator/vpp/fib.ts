import { type Cidr, formatCidr, network, parseCidr } from '#models/ip.ts';
import type { FibPath } from '#vpp/binapi/messages.gen.ts';

/** VPP's sources of FIB entries, in the order of their numbers; the lowest priority wins. */
export const fibSources: readonly (readonly [name: string, priority: number])[] = [
  ['invalid', 255],
  ['special', 0],
  ['classify', 1],
  ['proxy', 2],
  ['interface', 3],
  ['SR', 16],
  ['BIER', 32],
  ['6RD', 48],
  ['API', 128],
  ['CLI', 129],
  ['LISP', 144],
  ['MAP', 160],
  ['DHCP', 176],
  ['IPv6-proxy-nd', 192],
  ['IPv6-nd', 193],
  ['adjacency', 208],
  ['mpls', 224],
  ['attached_export', 240],
  ['recursive-resolution', 251],
  ['urpf-exempt', 252],
  ['default-route', 253],
  ['interpose', 254],
];

export const source = {
  special: 1,
  interface: 4,
  api: 8,
  dhcp: 12,
  adjacency: 15,
  recursive: 18,
  default: 20,
};

export type Family = 4 | 6;

/** A path of a route, as VPP stores and dumps it. */
export type Path = Pick<
  FibPath,
  'sw_if_index' | 'table_id' | 'weight' | 'preference' | 'type' | 'flags' | 'proto'
> & {
  /** 16 bytes. */
  readonly nextHop: Uint8Array;
  /** The table in which the path is looked up, if any. The route holds a lock on it. */
  readonly via: FibTable | undefined;
  /** Its interface was deleted: it drops, also when another interface gets the index. */
  readonly isDead?: true;
};

export interface FibEntry {
  /** As first written: VPP keeps the host bits. */
  readonly prefix: Cidr;
  readonly statsIndex: number;
  readonly sources: Map<number, readonly Path[]>;
}

export interface FibTable {
  readonly family: Family;
  readonly id: number;
  readonly name: string;
  readonly entries: Map<string, FibEntry>;
  /** Reference counts that keep the table alive: `api`, interfaces, routes of other tables. */
  readonly locks: Map<string, number>;
}

export const pathType = { normal: 0, local: 1, drop: 2, unreachable: 5, prohibited: 6 };

function keyOf(prefix: Cidr): string {
  return formatCidr(network(prefix));
}

/** Whether VPP treats two paths as the same one. It ignores weight and preference. */
export function samePath(a: Path, b: Path): boolean {
  if (a.proto !== b.proto) return false;
  // drop, unreachable and prohibited paths are all equal; so are local paths
  if (isSpecial(a) || isSpecial(b)) return isSpecial(a) && isSpecial(b);
  if (a.type !== b.type || a.type === pathType.local) return a.type === b.type;
  return (
    a.sw_if_index === b.sw_if_index && a.via === b.via && Buffer.compare(a.nextHop, b.nextHop) === 0
  );
}

function areSame(a: readonly Path[], b: readonly Path[]): boolean {
  return a.length === b.length && a.every((path) => b.some((other) => samePath(path, other)));
}

function isSpecial({ type }: Path): boolean {
  return type === pathType.drop || type === pathType.unreachable || type === pathType.prohibited;
}

export function pathOf(family: Family, path: Partial<Path>): Path {
  return {
    sw_if_index: 0xffff_ffff,
    table_id: 0,
    weight: 1,
    preference: 0,
    type: pathType.normal,
    flags: 0,
    proto: family === 4 ? 0 : 1,
    nextHop: new Uint8Array(16),
    via: undefined,
    ...path,
  };
}

/** The source whose paths are in effect. */
export function bestSource(entry: FibEntry): number {
  const rank = (id: number) => fibSources[id]?.[1] ?? 255;
  return [...entry.sources.keys()].reduce((best, id) => (rank(id) < rank(best) ? id : best));
}

const specials: Readonly<Record<Family, readonly (readonly [prefix: string, source: number])[]>> = {
  4: [
    ['0.0.0.0/0', source.default],
    ['240.0.0.0/4', source.special],
    ['224.0.0.0/4', source.special],
    ['0.0.0.0/32', source.default],
    ['255.255.255.255/32', source.default],
  ],
  6: [
    ['::/0', source.default],
    ['fe80::/10', source.special],
  ],
};

/** Routing tables and their entries. */
export class Fib {
  readonly #tables = new Map<string, FibTable>();
  /**
   * Entries that were left in deleted tables. VPP does not remove them: the next table that reuses
   * the slot contains them.
   */
  readonly #staleEntries: Record<Family, FibEntry[][]> = { 4: [], 6: [] };
  #nextStats = 1;
  #hasDeadPaths = false;

  constructor() {
    for (const family of [4, 6] as const) this.create(family, 0, `ipv${family}-VRF:0`, 'default');
  }

  /** By family and in the order of creation. */
  get tables(): readonly FibTable[] {
    const all = [...this.#tables.values()];
    return [...all.filter((t) => t.family === 4), ...all.filter((t) => t.family === 6)];
  }

  find(family: Family, id: number): FibTable | undefined {
    return this.#tables.get(`${family}/${id}`);
  }

  /** An existing table keeps its name. */
  create(family: Family, id: number, name: string, lock: string): FibTable {
    const known = this.find(family, id);
    if (known) {
      this.lock(known, lock, 'once');
      return known;
    }
    const table: FibTable = {
      family,
      id,
      // VPP formats the ID as a signed number
      name: name || `ipv${family}-VRF:${id | 0}`,
      entries: new Map(),
      locks: new Map([[lock, 1]]),
    };
    this.#tables.set(`${family}/${id}`, table);
    for (const entry of this.#staleEntries[family].pop() ?? [])
      table.entries.set(keyOf(entry.prefix), entry);
    const drop = pathOf(family, { type: pathType.drop });
    for (const [prefix, from] of specials[family]) {
      const linkLocal = family === 6 && from === source.special;
      this.set(table, parseCidr(prefix)!, from, [linkLocal ? pathOf(6, {}) : drop]);
    }
    return table;
  }

  lock(table: FibTable, lock: string, many: 'once' | 'counted' = 'counted'): void {
    const count = table.locks.get(lock) ?? 0;
    table.locks.set(lock, many === 'once' ? 1 : count + 1);
  }

  unlock(table: FibTable, lock: string): void {
    const count = table.locks.get(lock) ?? 0;
    if (count > 1) table.locks.set(lock, count - 1);
    else table.locks.delete(lock);
    if (table.locks.size > 0) return;
    this.#tables.delete(`${table.family}/${table.id}`);
    const left = [...table.entries.values()].filter((entry) => {
      for (const from of [source.special, source.default]) entry.sources.delete(from);
      return entry.sources.size > 0;
    });
    this.#staleEntries[table.family].push(left);
  }

  get(table: FibTable, prefix: Cidr): FibEntry | undefined {
    return table.entries.get(keyOf(prefix));
  }

  /** Sets the paths of one source of the entry; an empty list removes the source. */
  set(table: FibTable, prefix: Cidr, from: number, paths: readonly Path[]): FibEntry | undefined {
    const key = keyOf(prefix);
    const known = table.entries.get(key);
    const before = known?.sources.get(from) ?? [];
    if (paths.length === 0) {
      known?.sources.delete(from);
      if (known?.sources.size === 0) table.entries.delete(key);
    } else {
      const entry = known ?? { prefix, statsIndex: this.#nextStats++, sources: new Map() };
      entry.sources.set(from, this.#shared(paths));
      table.entries.set(key, entry);
    }
    for (const { via } of paths) if (via) this.lock(via, 'routes');
    for (const { via } of before) if (via) this.unlock(via, 'routes');
    return table.entries.get(key);
  }

  /** The interface was deleted. */
  removeInterface(index: number): void {
    for (const { entries } of this.#tables.values())
      for (const { sources } of entries.values())
        for (const [from, paths] of sources)
          if (paths.some(({ sw_if_index }) => sw_if_index === index)) {
            this.#hasDeadPaths = true;
            const isOn = ({ sw_if_index }: Path): boolean => sw_if_index === index;
            sources.set(
              from,
              paths.map((path) => (isOn(path) ? { ...path, isDead: true } : path)),
            );
          }
  }

  /** Routes with equal paths share them, and with them the dead ones. */
  #shared(paths: readonly Path[]): readonly Path[] {
    if (!this.#hasDeadPaths) return paths;
    for (const { entries } of this.#tables.values())
      for (const { sources } of entries.values())
        for (const others of sources.values())
          if (others.some(({ isDead }) => isDead) && areSame(others, paths)) return others;
    return paths;
  }

  addPaths(
    table: FibTable,
    prefix: Cidr,
    from: number,
    added: readonly Path[],
  ): FibEntry | undefined {
    const present = this.get(table, prefix)?.sources.get(from) ?? [];
    const fresh = added.filter((path) => !present.some((known) => samePath(known, path)));
    return this.set(table, prefix, from, [...present, ...fresh]);
  }

  removePaths(table: FibTable, prefix: Cidr, from: number, removed: readonly Path[]): void {
    const present = this.get(table, prefix)?.sources.get(from);
    if (!present) return;
    const left = present.filter((known) => !removed.some((path) => samePath(known, path)));
    this.set(table, prefix, from, left);
  }
}
