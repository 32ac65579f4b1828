/** The archive of a support bundle: a compressed tar file, written part by part. */
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { createTarPacker } from 'modern-tar';
import type { Random } from '../clock/clock.ts';
import { defineError, errorText } from '../errors/errors.ts';

export const ReportError = defineError({
  name: 'ReportError',
  code: 'CV_REPORT',
  remedy: 'Give a path in a folder that is writable and has enough free space.',
});

const OWNER_ONLY = 0o600;

export interface AddedPart {
  readonly bytes: number;
  /** The source has more than its limit. */
  readonly isTruncated: boolean;
}

/**
 * Under its name there is only a complete archive: until then its name ends in `.partial`, and the
 * part that is being read is beside it, because tar needs the size first. The names of both cannot be
 * guessed: the folder may be one that every user may write.
 */
export class ReportArchive {
  readonly #path: string;
  readonly #partial: string;
  readonly #spool: string;
  readonly #now: Date;
  readonly #packer = createTarPacker();
  readonly #written: Promise<void>;
  #failure: unknown;

  private constructor(path: string, prefix: string, file: Writable, now: Date) {
    this.#path = path;
    this.#partial = partialOf(prefix);
    this.#spool = `${prefix}.part`;
    this.#now = now;
    // the types of Node.js and of the DOM name the same class
    const packed = Readable.fromWeb(
      this.#packer.readable as Parameters<typeof Readable.fromWeb>[0],
    );
    this.#written = pipeline(packed, createGzip(), file);
    this.#written.catch((error: unknown) => {
      this.#failure = error;
    });
  }

  /** @throws ReportError */
  static async create(path: string, now: Date, random: Random): Promise<ReportArchive> {
    const prefix = `${path}.${Buffer.from(random.bytes(8)).toString('hex')}`;
    try {
      const file = await open(partialOf(prefix), 'wx', OWNER_ONLY);
      return new ReportArchive(path, prefix, file.createWriteStream({ flush: true }), now);
    } catch (cause) {
      throw new ReportError(`cannot write the archive: ${errorText(cause)}`, {
        where: path,
        cause,
      });
    }
  }

  /**
   * Adds a file of the archive. When its source fails, what was read of it is added.
   * @returns with the error of the source
   * @throws ReportError when the archive cannot be written
   */
  async add(
    name: string,
    source: Readable,
    options: { readonly maxBytes: number; readonly mask: Transform; readonly signal: AbortSignal },
  ): Promise<AddedPart & { readonly error?: string }> {
    const limit = limitBytes(options.maxBytes);
    const spool = this.#spool;
    const target = createWriteStream(spool, { flags: 'wx', mode: OWNER_ONLY });
    // A stream that fails destroys the others, with its error.
    let failedFirst: 'source' | 'spool' | undefined;
    source.once('error', () => {
      failedFirst ??= 'source';
    });
    target.once('error', () => {
      failedFirst ??= 'spool';
    });
    let error: string | undefined;
    try {
      await pipeline(source, limit.stream, options.mask, target, { signal: options.signal });
    } catch (thrown) {
      if (failedFirst === 'spool' && !options.signal.aborted) throw this.#error(thrown);
      error = options.signal.aborted ? errorText(options.signal.reason) : errorText(thrown);
    }
    const { size } = await stat(spool).catch(() => ({ size: 0 }));
    if (size > 0 || error === undefined)
      await this.#pack(name, size, () => createReadStream(spool));
    await rm(spool, { force: true });
    return { bytes: size, isTruncated: limit.isReached(), ...(error !== undefined && { error }) };
  }

  /** Adds the last file, and gives the archive its name. @throws ReportError */
  async finish(name: string, text: string): Promise<void> {
    const bytes = Buffer.from(text);
    await this.#pack(name, bytes.length, () => Readable.from([bytes]));
    try {
      this.#packer.controller.finalize();
      await this.#written;
      await rename(this.#partial, this.#path);
    } catch (thrown) {
      throw this.#error(thrown);
    }
  }

  /** Removes what was written, if the archive is not finished. */
  async discard(): Promise<void> {
    try {
      this.#packer.controller.error(new Error('the report was abandoned'));
    } catch {
      // it has failed already
    }
    await this.#written.catch(() => undefined);
    for (const file of [this.#partial, this.#spool]) await rm(file, { force: true });
  }

  async #pack(name: string, size: number, source: () => Readable): Promise<void> {
    try {
      if (this.#failure !== undefined) throw this.#failure;
      const body = this.#packer.controller.add({ name, size, mtime: this.#now, mode: OWNER_ONLY });
      // A file that cannot be written makes the stream wait for ever.
      await Promise.race([
        pipeline(source(), Writable.fromWeb(body as Parameters<typeof Writable.fromWeb>[0])),
        this.#written.then(() => undefined),
      ]);
    } catch (thrown) {
      throw this.#error(thrown);
    }
  }

  #error(thrown: unknown): Error {
    const cause = this.#failure ?? thrown;
    return new ReportError(`cannot write the archive: ${errorText(cause)}`, {
      where: this.#path,
      cause,
    });
  }
}

function partialOf(prefix: string): string {
  return `${prefix}.partial`;
}

/** Passes the first bytes of a stream, and drops the others. */
function limitBytes(maxBytes: number): { stream: Transform; isReached(): boolean } {
  let left = maxBytes;
  let isReached = false;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (chunk.length > left) isReached = true;
      const passed = chunk.subarray(0, left);
      left -= passed.length;
      done(undefined, passed);
    },
  });
  return { stream, isReached: () => isReached };
}
