import { constants } from 'node:os';
import type { Clock } from '#infra/clock/clock.ts';
import { Refusal } from '../netlink/refusal.ts';
import {
  bpf,
  call,
  close,
  cString,
  type Field,
  info,
  openKept,
  pin,
  write,
} from './system-call.ts';
import type { TypeIds } from './types.ts';

/** Kind and size of a map; lengths in bytes. */
export interface MapShape {
  /**
   * `array`: keys are the numbers from 0 on, and all entries exist. `lru`: the oldest entries go when it is full. `socket`: an
   * entry lives and dies with its socket. `ring`: a `RingBuffer`, without entries.
   */
  readonly kind: keyof typeof kinds;
  readonly keyLength: number;
  readonly valueLength: number;
  /** 0 for `socket`; for `ring` the length in bytes, a power of 2. */
  readonly maxEntries: number;
}

const kinds = { hash: 1, array: 2, lru: 9, socket: 24, ring: 27 } as const;

/** Memory is used by entries that exist; the others have it from the start. */
const NO_PREALLOCATION = 1;
const growing: ReadonlySet<MapShape['kind']> = new Set(['hash', 'socket']);

/** Entries of one call: up to 1 ms. The kernel wants space for the longest chain of its hash table. */
const BATCH = 2048;

export type Entry = readonly [key: Buffer, value: Buffer];

/** The number of entries of a map is limited when it is made. */
export class MapFullError extends Refusal {
  constructor(name: string, maxEntries: number) {
    super(constants.errno.E2BIG, `map ${name} is full: it has ${maxEntries} entries`);
  }
}

/** The calls of the agent on a map. */
export type MapEntries = Pick<BpfMap, 'set' | 'delete' | 'setAll' | 'entries'>;

/** A map of the kernel, which programs read and write. Keys and values have the lengths of the shape. */
export class BpfMap {
  readonly file: number;
  readonly #name: string;
  readonly #shape: MapShape;

  private constructor(file: number, name: string, shape: MapShape) {
    this.file = file;
    this.#name = name;
    this.#shape = shape;
  }

  /** @param types of key and value: needed for `socket` */
  static create(name: string, shape: MapShape, types?: TypeIds): BpfMap {
    const { kind, keyLength, valueLength, maxEntries } = shape;
    const fields: Field[] = [
      [0, kinds[kind]],
      [4, keyLength],
      [8, valueLength],
      [12, maxEntries],
      [16, growing.has(kind) ? NO_PREALLOCATION : 0],
    ];
    if (types) fields.push([48, types.file], [52, types.key], [56, types.value]);
    const attributes = Buffer.alloc(72);
    write(attributes, fields);
    cString(name).copy(attributes, 28, 0, 15);
    return new BpfMap(call('createMap', attributes), name, shape);
  }

  /** @returns undefined: it has another shape @throws Refusal with ENOENT: there is none */
  static open(path: string, name: string, shape: MapShape): BpfMap | undefined {
    const map = new BpfMap(openKept(path), name, shape);
    const found = info(map.file, 24);
    const numbers = [kinds[shape.kind], shape.keyLength, shape.valueLength, shape.maxEntries];
    if (numbers.every((number, at) => number === found.readUInt32LE(at === 0 ? 0 : 4 + 4 * at)))
      return map;
    map.close();
    return undefined;
  }

  pin(path: string): void {
    pin(this.file, path);
  }

  close(): void {
    close(this.file);
  }

  /** @returns undefined: there is no such entry */
  get(key: Buffer): Buffer | undefined {
    const value = Buffer.alloc(this.#shape.valueLength);
    try {
      bpf('lookup', 32, [
        [0, this.file],
        [8, key],
        [16, value],
      ]);
      return value;
    } catch (thrown) {
      if (thrown instanceof Refusal && thrown.errno === 'ENOENT') return undefined;
      throw thrown;
    }
  }

  /** Adds or replaces an entry. */
  set(key: Buffer, value: Buffer): void {
    this.#add(() =>
      bpf('update', 32, [
        [0, this.file],
        [8, key],
        [16, value],
      ]),
    );
  }

  /** @returns whether there was such an entry */
  delete(key: Buffer): boolean {
    try {
      bpf('delete', 32, [
        [0, this.file],
        [8, key],
      ]);
      return true;
    } catch (thrown) {
      if (thrown instanceof Refusal && thrown.errno === 'ENOENT') return false;
      throw thrown;
    }
  }

  /** Adds or replaces many entries; the event loop turns in between. */
  async setAll(entries: readonly Entry[], clock: Clock): Promise<void> {
    for (let from = 0; from < entries.length; from += BATCH) {
      if (from > 0) await clock.turn();
      const part = entries.slice(from, from + BATCH);
      const attributes = Buffer.alloc(56);
      const keys = Buffer.concat(part.map(([key]) => key));
      const values = Buffer.concat(part.map(([, value]) => value));
      write(attributes, [
        [16, keys],
        [24, values],
        [32, part.length],
        [36, this.file],
      ]);
      this.#add(() => call('updateBatch', attributes));
    }
  }

  #add(work: () => void): void {
    try {
      work();
    } catch (thrown) {
      if (!(thrown instanceof Refusal) || thrown.errno !== 'E2BIG') throw thrown;
      throw new MapFullError(this.#name, this.#shape.maxEntries);
    }
  }

  /** All entries; the event loop turns in between, and an entry that changes meanwhile is there or not. */
  async entries(clock: Clock): Promise<Entry[]> {
    const { keyLength, valueLength } = this.#shape;
    const found: Entry[] = [];
    let position: Buffer | undefined;
    for (;;) {
      const keys = Buffer.alloc(BATCH * keyLength);
      const values = Buffer.alloc(BATCH * valueLength);
      const next = Buffer.alloc(Math.max(keyLength, 4));
      const attributes = Buffer.alloc(56);
      const fields: Field[] = [
        [8, next],
        [16, keys],
        [24, values],
        [32, BATCH],
        [36, this.file],
      ];
      if (position) fields.push([0, position]);
      write(attributes, fields);
      const isLast = !callUntilEnd(attributes);
      const count = attributes.readUInt32LE(32);
      for (let at = 0; at < count; at++)
        found.push([
          keys.subarray(at * keyLength, (at + 1) * keyLength),
          values.subarray(at * valueLength, (at + 1) * valueLength),
        ]);
      if (isLast) return found;
      position = next;
      await clock.turn();
    }
  }
}

/** @returns whether there may be more */
function callUntilEnd(attributes: Buffer): boolean {
  try {
    call('lookupBatch', attributes);
    return true;
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.errno === 'ENOENT') return false;
    throw thrown;
  }
}
