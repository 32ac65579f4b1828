import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#infra/clock/clock.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { Slices } from '#infra/clock/slices.ts';
import { errorText } from '#infra/errors/errors.ts';
import { createFolder } from '#infra/files/folder.ts';
import type { Logger } from '#infra/log/log.ts';
import type { HeaderLine, Line } from './recording-format.ts';

export const RECORDING_FILE_NAME = /^run-.*\.jsonl$/;
/** Limit of one recording, and of all older ones together. */
export const MAX_BYTES = 2 ** 30;
const CHUNK = 64 * 1024;
/** Objects and lists with more entries are serialized in chunks. */
const LONG_LIST = 64;
const MAX_DEPTH = 4;

export interface RecordingFileOptions {
  readonly folder: string;
  readonly header: HeaderLine;
  readonly clock: Clock;
  readonly log: Logger;
  /** Default: 1 GiB. */
  readonly maxBytes?: number;
}

/**
 * The file of one recording. A line has been passed to the operating system when its promise
 * resolves, so a killed process loses at most the line that was being written. An error ends the
 * recording, with a log message, and never the agent.
 */
export class RecordingFile {
  readonly #options: RecordingFileOptions;
  readonly #maxBytes: number;
  /** Resolves when all queued lines are written. */
  #written: Promise<void>;
  #handle: Awaited<ReturnType<typeof open>> | undefined;
  #bytes = 0;
  #stopped = false;

  constructor(options: RecordingFileOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? MAX_BYTES;
    this.#written = this.#guarded(() => this.#open());
    void this.append(options.header);
  }

  /** Never rejects. The line must not change before the promise resolves. */
  append(line: Line): Promise<void> {
    this.#written = this.#written.then(() => this.#guarded(() => this.#line(line)));
    return this.#written;
  }

  async close(): Promise<void> {
    await this.#written;
    this.#stopped = true;
    await this.#handle?.close().catch(() => undefined);
    this.#handle = undefined;
  }

  async #guarded(action: () => Promise<void>): Promise<void> {
    if (this.#stopped) return;
    try {
      await action();
    } catch (thrown) {
      const { folder, log } = this.#options;
      this.#stopped = true;
      log.error({ folder, reason: errorText(thrown) }, 'recording stopped');
    }
  }

  /** Recordings contain cluster state, so only the user of the agent can read them. */
  async #open(): Promise<void> {
    const { folder, header: first, log } = this.#options;
    createFolder(folder, 0o700);
    await this.#dropOld();
    const time = rfc3339(first.at).replaceAll(':', '-');
    const path = join(folder, `run-${time}-${process.pid}.jsonl`);
    this.#handle = await open(path, 'ax', 0o600);
    log.info({ path }, 'recording events');
  }

  /** Deletes the oldest recordings until the others are within the size limit. */
  async #dropOld(): Promise<void> {
    const { folder, log } = this.#options;
    const names = (await readdir(folder)).filter((name) => RECORDING_FILE_NAME.test(name)).sort();
    let left = this.#maxBytes;
    for (const name of names.reverse()) {
      const path = join(folder, name);
      left -= (await stat(path)).size;
      if (left >= 0) continue;
      log.info({ path }, 'deleting old recording');
      await rm(path);
    }
  }

  async #line(line: Line): Promise<void> {
    if (this.#bytes > this.#maxBytes) {
      this.#stopped = true;
      const reason = `the recording has reached its limit of ${this.#maxBytes} bytes`;
      await this.#write(`${JSON.stringify({ t: 'stop', reason } satisfies Line)}\n`);
      this.#options.log.warn({ reason }, 'recording stopped');
      return;
    }
    const slices = new Slices(this.#options.clock);
    let chunk = '';
    for (const piece of jsonPieces(line, 0)) {
      chunk += piece;
      if (chunk.length >= CHUNK) {
        await this.#write(chunk);
        chunk = '';
      }
      if (slices.due()) await slices.turn();
    }
    await this.#write(`${chunk}\n`);
  }

  async #write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    this.#bytes += bytes.length;
    for (let from = 0; from < bytes.length; )
      from += (await this.#handle!.write(bytes, from)).bytesWritten;
  }
}

/** The text of `JSON.stringify` in small chunks. */
export function* jsonPieces(value: unknown, depth: number): Generator<string, void, void> {
  if (
    typeof value !== 'object' ||
    value === null ||
    depth > MAX_DEPTH ||
    'toJSON' in value ||
    isShort(value)
  ) {
    yield JSON.stringify(value) ?? 'null';
    return;
  }
  let before = '';
  if (Array.isArray(value)) {
    yield '[';
    for (const item of value) {
      yield before;
      yield* jsonPieces(item, depth + 1);
      before = ',';
    }
    yield ']';
    return;
  }
  yield '{';
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* jsonPieces(field, depth + 1);
    before = ',';
  }
  yield '}';
}

/** Neither the value nor its direct fields are long or deeply nested. */
function isShort(value: object): boolean {
  const fields = Object.values(value);
  return (
    fields.length <= LONG_LIST &&
    fields.every((field) => typeof field !== 'object' || field === null || isFlat(field))
  );
}

function isFlat(value: object): boolean {
  const fields = Object.values(value);
  return fields.length <= LONG_LIST && fields.every((field) => typeof field !== 'object');
}
