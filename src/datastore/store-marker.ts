/**
 * A small file beside a database that remembers which database is there and how far it was written.
 * A database that is older than its marker, or missing beside it, has lost acknowledged writes.
 *
 * The marker is written after its batch, and not synced: a crash leaves it at most behind
 * the database, which is no loss. It is not needed for the loss of power: the sync of the database
 * comes first, so the marker can then only be behind, too.
 */
import { type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { systemClock } from '#infra/clock/system.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';

export interface MarkerContent {
  /** Identity of the database. */
  readonly id: string;
  /** Number of batches that the database had got. */
  readonly sequence: number;
}

/** Decimal digits of 2^53: all markers have one length, so a new one overwrites the whole old one. */
const DIGITS = 16;
/** After each write: a burst of batches, as of an Add Pod, must not pay for one marker each. */
const PAUSE_MS = 20;

export class StoreMarker {
  readonly #file: string;
  readonly #log: Logger;
  #handle: FileHandle | undefined;
  #latest: MarkerContent | undefined;
  #writing: Promise<void> | undefined;
  #failed = false;
  #isFlushing = false;
  #endPause: () => void = () => undefined;

  constructor(file: string, log: Logger) {
    this.#file = file;
    this.#log = log;
  }

  /** The content; undefined without a file, `unreadable` for a damaged one. */
  async read(): Promise<MarkerContent | 'unreadable' | undefined> {
    let text: string;
    try {
      text = await readFile(this.#file, 'utf8');
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      this.#warn(thrown);
      return 'unreadable';
    }
    const [id = '', sequence = '', checksum] = text.trimEnd().split(' ');
    return checksum === checksumOf(`${id} ${sequence}`)
      ? { id, sequence: Number(sequence) }
      : 'unreadable';
  }

  /**
   * Schedules a write of the marker. While the file cannot be written, the marker stays behind the
   * database, and the next call tries again.
   */
  record(content: MarkerContent): void {
    this.#latest = content;
    this.#writing ??= this.#writeLatest().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Resolves when the marker is written, or was attempted to. */
  async flush(): Promise<void> {
    this.#isFlushing = true;
    this.#endPause();
    await this.#writing;
    this.#isFlushing = false;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#handle?.close().catch(() => undefined);
    this.#handle = undefined;
  }

  async #writeLatest(): Promise<void> {
    while (this.#latest) {
      const text = markerText(this.#latest);
      this.#latest = undefined;
      try {
        if (this.#handle) await this.#handle.write(text, 0);
        else this.#handle = await this.#create(text);
        this.#failed = false;
      } catch (thrown) {
        this.#warn(thrown);
      }
      if (!this.#isFlushing) await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = systemClock.timer(PAUSE_MS, resolve);
    this.#endPause = resolve;
    await promise;
    timer.cancel();
  }

  /** Replaces the file as a whole, so that a crash leaves the old marker or the new one. */
  async #create(text: string): Promise<FileHandle> {
    const created = `${this.#file}.new`;
    const handle = await open(created, 'w');
    try {
      await handle.write(text, 0);
      await handle.sync();
      await rename(created, this.#file);
      return handle;
    } catch (thrown) {
      await handle.close().catch(() => undefined);
      throw thrown;
    }
  }

  #warn(thrown: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#log.warn(
      { file: this.#file, error: errorText(thrown) },
      'cannot use the marker of the local database: a loss of its last writes would not be detected',
    );
  }
}

function markerText({ id, sequence }: MarkerContent): string {
  const text = `${id} ${String(sequence).padStart(DIGITS, '0')}`;
  return `${text} ${checksumOf(text)}\n`;
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
