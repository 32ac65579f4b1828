/**
 * VPP's statistics segment (version 2): shared memory in host byte order, which VPP writes and the
 * agent only reads. VPP passes the file descriptor over a SEQPACKET socket, which Node.js does not
 * support. If the PID namespace is shared, the same memory is a file under /proc/<pid>/fd, and
 * reading it there needs no native code.
 *
 * Data that is read while VPP changes the layout is invalid: `read` compares the epoch before and
 * after, and retries if it changed or a change was in progress.
 */
import { closeSync, fstatSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#infra/clock/clock.ts';
import { defineError } from '#infra/errors/errors.ts';

export const StatsUnavailableError = defineError({
  name: 'StatsUnavailableError',
  code: 'CV_STATS_UNAVAILABLE',
  remedy: 'Share the PID namespace with VPP (hostPID), run as root, and enable statseg in VPP.',
});

export const StatsAccessError = defineError({
  name: 'StatsAccessError',
  code: 'CV_STATS_ACCESS',
  remedy:
    'Give the container of the agent the capability SYS_PTRACE, as the chart does, and run the agent as root. Without it, the kernel hides the open files of a process with more capabilities than the agent.',
});

export const StatsBusyError = defineError({
  name: 'StatsBusyError',
  code: 'CV_STATS_BUSY',
  remedy: 'No action needed: VPP kept changing the segment; the next scrape retries.',
});

const SEGMENT_LINK = /^\/memfd:stat segment/;
const VERSION = 2n;
const HEADER_BYTES = 40;
const ENTRY_BYTES = 144;
/** Attempts while VPP changes the layout, which takes microseconds: one after the other. */
const IMMEDIATE_ATTEMPTS = 20;
/** Then with pauses, a second in total: on a busy machine VPP may get no CPU in the middle of a change. */
const PAUSE_MS = 10;
const MAX_ATTEMPTS = IMMEDIATE_ATTEMPTS + 100;

/** Supported types of directory entries. */
const EntryType = {
  Scalar: 1,
  SimpleCounter: 2,
  CombinedCounter: 3,
  NameVector: 4,
  Symlink: 6,
  Gauge: 9,
} as const;

interface DirectoryEntry {
  readonly name: string;
  readonly type: number;
  /**
   * Value of a scalar or gauge; pointer of a vector; for a symlink the directory index of its
   * target in the lower half and the item index in the upper half.
   */
  readonly word: bigint;
}

interface Header {
  readonly base: bigint;
  readonly epoch: bigint;
  readonly inProgress: bigint;
  readonly directory: bigint;
}

interface Directory {
  readonly byName: ReadonlyMap<string, DirectoryEntry>;
  readonly byIndex: readonly DirectoryEntry[];
}

/** Read access to a consistent state of the segment. */
export interface SegmentSnapshot {
  /** A whole number. */
  scalar(name: string): number | undefined;
  /** Sums over all threads, by index; undefined if the counter does not exist. */
  simple(name: string): readonly bigint[] | undefined;
  combined(
    name: string,
  ): readonly { readonly packets: bigint; readonly bytes: bigint }[] | undefined;
  /** The value of a simple counter for each thread. */
  perThread(name: string, index: number): readonly bigint[] | undefined;
  names(name: string): readonly string[] | undefined;
  /** Names of the entries under a prefix, without it. */
  list(prefix: string): readonly string[];
  /** Sums of the counters that the symlinks under a prefix refer to, by name without the prefix. */
  symlinks(prefix: string): ReadonlyMap<string, bigint>;
}

export class StatsSegment {
  readonly #fd: number;
  readonly #clock: Clock;
  #directory: { epoch: bigint; entries: Directory } | undefined;

  /** @param fd an open segment; `open` finds the segment of a process */
  constructor(fd: number, clock: Clock) {
    this.#fd = fd;
    this.#clock = clock;
  }

  /**
   * @param pid PID of VPP in this PID namespace, as returned by control_ping
   * @throws StatsAccessError when the kernel denies access to the open files of the process
   * @throws StatsUnavailableError when the process or the segment does not exist or cannot be read
   */
  static open(pid: number, clock: Clock, procRoot = '/proc'): StatsSegment {
    const folder = join(procRoot, String(pid), 'fd');
    let path: string | undefined;
    let denied: unknown;
    try {
      path = readdirSync(folder)
        .map((name) => join(folder, name))
        .find((candidate) => {
          const target = linkTarget(candidate);
          if (typeof target === 'string') return SEGMENT_LINK.test(target);
          denied = target.denied ?? denied;
          return false;
        });
    } catch (cause) {
      const failed = isDenied(cause) ? StatsAccessError : StatsUnavailableError;
      throw new failed('cannot list the open files of VPP', { where: folder, cause });
    }
    // Root may list the files of any process: only their targets are hidden.
    if (path === undefined && denied !== undefined)
      throw new StatsAccessError('reading the open files of VPP is denied', {
        where: folder,
        cause: denied,
      });
    if (path === undefined)
      throw new StatsUnavailableError('VPP has no statistics segment', { where: folder });
    let segment: StatsSegment | undefined;
    try {
      segment = new StatsSegment(openSync(path, 'r'), clock);
      segment.#header();
      return segment;
    } catch (cause) {
      // Each scrape retries: without this, each failure would leak a file descriptor.
      segment?.close();
      if (cause instanceof StatsUnavailableError) throw cause;
      throw new StatsUnavailableError('cannot open the statistics segment', { where: path, cause });
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  /**
   * Calls `reader` with a consistent snapshot. It may be called several times; only the result of a
   * call during which the layout did not change is returned.
   * @throws StatsBusyError
   */
  async read<T>(reader: (snapshot: SegmentSnapshot) => T): Promise<T> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (attempt >= IMMEDIATE_ATTEMPTS) await this.#clock.sleep(PAUSE_MS);
      else if (attempt > 0) await this.#clock.turn();
      const before = this.#header();
      if (before.inProgress !== 0n) continue;
      let result: { value: T } | undefined;
      try {
        result = { value: reader(this.#snapshot(before)) };
      } catch (error) {
        // A pointer that VPP has just changed may be invalid: ignore errors unless nothing changed.
        if (this.#isUnchanged(before)) throw error;
      }
      if (result && this.#isUnchanged(before)) return result.value;
      this.#directory = undefined;
    }
    throw new StatsBusyError(`no consistent snapshot in ${MAX_ATTEMPTS} attempts`);
  }

  #isUnchanged(before: Header): boolean {
    const now = this.#header();
    return now.epoch === before.epoch && now.inProgress === 0n;
  }

  #header(): Header {
    const bytes = this.#bytes(0, HEADER_BYTES);
    const version = bytes.readBigUInt64LE(0);
    if (version !== VERSION)
      throw new StatsUnavailableError(
        `the segment has version ${version}, only version ${VERSION} is supported`,
      );
    return {
      base: bytes.readBigUInt64LE(8),
      epoch: bytes.readBigUInt64LE(16),
      inProgress: bytes.readBigUInt64LE(24),
      directory: bytes.readBigUInt64LE(32),
    };
  }

  #snapshot(header: Header): SegmentSnapshot {
    if (this.#directory?.epoch !== header.epoch)
      this.#directory = { epoch: header.epoch, entries: this.#readDirectory(header) };
    const { byName, byIndex } = this.#directory.entries;
    const vector = (pointer: bigint, itemBytes: number) => this.#vector(header, pointer, itemBytes);
    const threads = (entry: DirectoryEntry | undefined, type: number): bigint[][] | undefined => {
      if (entry?.type !== type) return undefined;
      const itemBytes = type === EntryType.CombinedCounter ? 16 : 8;
      return words(vector(entry.word, 8)).map((pointer) => words(vector(pointer, itemBytes)));
    };
    const simple = (entry: DirectoryEntry | undefined) =>
      threads(entry, EntryType.SimpleCounter)?.reduce(add, []);
    return {
      scalar(name) {
        const entry = byName.get(name);
        if (!entry || (entry.type !== EntryType.Scalar && entry.type !== EntryType.Gauge))
          return undefined;
        return Number(entry.word);
      },
      simple: (name) => simple(byName.get(name)),
      combined(name) {
        const sums = threads(byName.get(name), EntryType.CombinedCounter)?.reduce(add, []);
        if (!sums) return undefined;
        return Array.from({ length: sums.length / 2 }, (_, index) => ({
          packets: sums[2 * index]!,
          bytes: sums[2 * index + 1]!,
        }));
      },
      perThread: (name, index) =>
        threads(byName.get(name), EntryType.SimpleCounter)?.map((counts) => counts[index] ?? 0n),
      names(name) {
        const entry = byName.get(name);
        if (entry?.type !== EntryType.NameVector) return undefined;
        return words(vector(entry.word, 8)).map((pointer) =>
          pointer === 0n ? '' : text(vector(pointer, 1)),
        );
      },
      list: (prefix) =>
        byIndex
          .filter(({ name }) => name.startsWith(prefix))
          .map(({ name }) => name.slice(prefix.length)),
      symlinks(prefix) {
        const targets = new Map<number, readonly bigint[]>();
        const found = new Map<string, bigint>();
        for (const entry of byIndex) {
          if (entry.type !== EntryType.Symlink || !entry.name.startsWith(prefix)) continue;
          const index = Number(entry.word & 0xffffffffn);
          let counts = targets.get(index);
          if (!counts) {
            counts = simple(byIndex[index]) ?? [];
            targets.set(index, counts);
          }
          found.set(entry.name.slice(prefix.length), counts[Number(entry.word >> 32n)] ?? 0n);
        }
        return found;
      },
    };
  }

  #readDirectory(header: Header): Directory {
    const bytes = this.#vector(header, header.directory, ENTRY_BYTES);
    const byIndex = Array.from({ length: bytes.length / ENTRY_BYTES }, (_, index) => {
      const entry = bytes.subarray(index * ENTRY_BYTES, (index + 1) * ENTRY_BYTES);
      return {
        name: text(entry.subarray(16)),
        type: entry.readUInt32LE(0),
        word: entry.readBigUInt64LE(8),
      };
    });
    return { byIndex, byName: new Map(byIndex.map((entry) => [entry.name, entry])) };
  }

  /** A VPP vector: its length is 8 bytes before the data. */
  #vector(header: Header, pointer: bigint, itemBytes: number): Buffer {
    if (pointer === 0n) return Buffer.alloc(0);
    const offset = Number(pointer - header.base);
    const length = this.#bytes(offset - 8, 4).readUInt32LE(0);
    return this.#bytes(offset, length * itemBytes);
  }

  /** Data that VPP has just moved may have any length: reads only within the segment. */
  #bytes(offset: number, length: number): Buffer {
    if (offset >= 0 && offset + length <= fstatSync(this.#fd).size) {
      const buffer = Buffer.alloc(length);
      if (readSync(this.#fd, buffer, 0, length, offset) === length) return buffer;
    }
    throw new StatsUnavailableError(`${length} bytes at offset ${offset} exceed the segment`);
  }
}

/** A file that VPP has closed since the listing has no target. */
function linkTarget(path: string): string | { readonly denied?: unknown } {
  try {
    return readlinkSync(path);
  } catch (error) {
    return isDenied(error) ? { denied: error } : {};
  }
}

function isDenied(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EACCES' || code === 'EPERM';
}

function words(bytes: Buffer): bigint[] {
  return Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readBigUInt64LE(8 * index));
}

/** Vectors of threads may differ in length: a missing index counts as 0. */
function add(a: readonly bigint[], b: readonly bigint[]): bigint[] {
  const [long, short] = a.length >= b.length ? [a, b] : [b, a];
  return long.map((value, index) => value + (short[index] ?? 0n));
}

function text(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
}
