/**
 * A disk that fails, below LevelDB and Node.js: a library that is preloaded into a process, and acts
 * on the files below one folder. See faulty-disk.c.
 */
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Bits of the calls that can fail. */
export const calls = { write: 1, sync: 2, open: 4, rename: 8, truncate: 16, unlink: 32 } as const;
export const ENOSPC = 28;
export const EIO = 5;

const HEADER_BYTES = 40;
const ENTRY_BYTES = 16;
const MAX_FILES = 1024;
const LIE_AT = 20;
const FAILING_AT = 24;
const FILES_AT = 36;

export interface Fault {
  /** Sum of the bits of `calls`. */
  readonly calls: number;
  /** The n-th of these calls fails, from 1 on. */
  readonly after: number;
  readonly error: number;
  /** Thousandths of its data that the failing write writes. */
  readonly part: number;
  /** All such calls after that one fail, too. */
  readonly isSticky: boolean;
}

/**
 * Runs this process again with a faulty disk.
 * @returns the exit code and the output
 */
export function runOnFaultyDisk(args: readonly string[]): {
  status: number | null;
  output: string;
} {
  const folder = mkdtempSync(join(tmpdir(), 'faulty-disk-'));
  try {
    const library = join(folder, 'faulty-disk.so');
    const source = join(import.meta.dirname, 'faulty-disk.c');
    const options = ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl', '-lpthread'];
    const compiled = spawnSync('gcc', options, { encoding: 'utf8' });
    if (compiled.status !== 0) return { status: 1, output: compiled.stderr };
    const control = join(folder, 'control');
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    writeFileSync(control, Buffer.alloc(HEADER_BYTES + ENTRY_BYTES * MAX_FILES));
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
      env: {
        ...env,
        LD_PRELOAD: library,
        FAULTY_DISK_CONTROL: control,
        FAULTY_DISK_FOLDER: disk,
      },
    });
    return { status, output: stdout + stderr };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export interface FileImage {
  readonly name: string;
  readonly data: Buffer;
  readonly synced: number;
}

/** The faulty disk of this process; undefined in a process without one. */
export class FaultyDisk {
  readonly folder: string;
  readonly #control: number;

  static attached(): FaultyDisk | undefined {
    const { FAULTY_DISK_FOLDER: folder, FAULTY_DISK_CONTROL: control } = process.env;
    return folder && control ? new FaultyDisk(folder, control) : undefined;
  }

  private constructor(folder: string, control: string) {
    this.folder = folder;
    this.#control = openSync(control, 'r+');
  }

  fail(fault: Fault): void {
    const { calls, after, error, part, isSticky } = fault;
    // First, because a call of another thread may start the new fault at once.
    this.#set(FAILING_AT, 0);
    this.#set(0, calls, after, error, part, isSticky ? 1 : 0);
  }

  /** No call fails from here on. */
  recover(): void {
    this.#set(0, 0, 0, 0, 0, 0);
    this.#set(FAILING_AT, 0);
  }

  /** Whether syncs succeed without syncing. */
  lie(isLying: boolean): void {
    this.#set(LIE_AT, isLying ? 1 : 0);
  }

  /** Number of calls that have failed. */
  get faults(): number {
    return this.#get(28);
  }

  /** All that was written up to now is on the disk. */
  syncAll(): void {
    this.#set(FILES_AT, 0);
  }

  /** Bytes of a file that were synced; undefined: all. */
  syncedBytes(path: string): number | undefined {
    const { ino: inode } = statSync(path);
    const table = Buffer.alloc(ENTRY_BYTES * this.#get(FILES_AT));
    readSync(this.#control, table, 0, table.length, HEADER_BYTES);
    for (let at = 0; at < table.length; at += ENTRY_BYTES)
      if (Number(table.readBigUInt64LE(at)) === inode) return Number(table.readBigUInt64LE(at + 8));
    return undefined;
  }

  /** No call changes anything from here on, until `recover`. */
  freeze(): void {
    this.fail({ calls: 0xff, after: 1, error: EIO, part: 0, isSticky: true });
  }

  /** The files of a folder with what was synced of each. */
  image(folder: string): FileImage[] {
    return readdirSync(folder).map((name) => {
      const path = join(folder, name);
      const data = readFileSync(path);
      return { name, data, synced: Math.min(this.syncedBytes(path) ?? data.length, data.length) };
    });
  }

  #set(at: number, ...values: readonly number[]): void {
    writeSync(this.#control, Buffer.from(Uint32Array.from(values).buffer), 0, null, at);
  }

  #get(at: number): number {
    const bytes = Buffer.alloc(4);
    readSync(this.#control, bytes, 0, 4, at);
    return bytes.readUInt32LE();
  }
}
