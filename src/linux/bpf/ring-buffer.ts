import koffi from 'koffi';
import { Refusal } from '../netlink/refusal.ts';

const libc = koffi.load(null);
const mapMemory = libc.func(
  'void *mmap(void *at, size_t length, int protection, int flags, int file, int64_t offset)',
) as (
  at: null,
  length: number,
  protection: number,
  flags: number,
  file: number,
  offset: number,
) => bigint;
const unmapMemory = libc.func('int munmap(void *at, size_t length)') as (
  at: bigint,
  length: number,
) => number;
const pageSize = libc.func('int getpagesize()') as () => number;

const MAP_SHARED = 1;
const MAP_FAILED = 0xffff_ffff_ffff_ffffn;
const READ = 1;
const READ_AND_WRITE = 3;

/** Of a record; its first word has its length and these bits. */
const HEADER_LENGTH = 8;
/** A program is writing the record. */
const BUSY = 0x8000_0000;
/** A program has given it up. */
const DISCARDED = 0x4000_0000;
const LENGTH_BITS = 0x3fff_ffff;

interface Mapping {
  readonly at: bigint;
  readonly length: number;
}

/**
 * Records that programs of all processors write to a map of the kind `ring`, in their order. The position up to which they
 * were read is in the map: another process continues there. For one reader at a time.
 */
export class RingBuffer {
  readonly #mappings: readonly Mapping[];
  /** Positions only grow; the data begin again at the end of the map. */
  readonly #consumed: BigInt64Array<ArrayBuffer>;
  readonly #produced: BigInt64Array<ArrayBuffer>;
  /** The map twice, one behind the other: no record is in two parts. */
  readonly #data: Buffer;
  readonly #headers: Uint32Array<ArrayBuffer>;
  readonly #length: number;
  #isClosed = false;

  /**
   * @param file descriptor of the map
   * @param length of the map in bytes
   * @throws Refusal
   */
  constructor(file: number, length: number) {
    const page = pageSize();
    const own = mapped(file, page, READ_AND_WRITE, 0);
    const others = mapped(file, page + 2 * length, READ, page);
    this.#mappings = [own, others];
    this.#length = length;
    this.#consumed = new BigInt64Array(koffi.view(own.at, page), 0, 1);
    const bytes = koffi.view(others.at, others.length);
    this.#produced = new BigInt64Array(bytes, 0, 1);
    this.#data = Buffer.from(bytes, page, 2 * length);
    this.#headers = new Uint32Array(bytes, page, (2 * length) / 4);
  }

  /**
   * Reads records that are complete, in their order.
   * @param each its bytes are those of the record during the call only
   * @returns whether there may be more
   */
  read(each: (record: Buffer) => void, limit: number): boolean {
    if (this.#isClosed) return false;
    const end = Atomics.load(this.#produced, 0);
    let position = Atomics.load(this.#consumed, 0);
    for (let count = 0; position < end; count++) {
      if (count === limit) return true;
      const at = Number(position & BigInt(this.#length - 1));
      const header = Atomics.load(this.#headers, at / 4);
      if (header & BUSY) return false;
      const length = header & LENGTH_BITS;
      const begin = at + HEADER_LENGTH;
      position += BigInt(HEADER_LENGTH + Math.ceil(length / 8) * 8);
      try {
        if (!(header & DISCARDED)) each(this.#data.subarray(begin, begin + length));
      } finally {
        // also of a record that its reader does not understand: it would stop there for ever
        Atomics.store(this.#consumed, 0, position);
      }
    }
    return false;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { at, length } of this.#mappings) unmapMemory(at, length);
  }
}

function mapped(file: number, length: number, protection: number, offset: number): Mapping {
  const at = mapMemory(null, length, protection, MAP_SHARED, file, offset);
  if (BigInt.asUintN(64, at) === MAP_FAILED) throw new Refusal(koffi.errno());
  return { at, length };
}
