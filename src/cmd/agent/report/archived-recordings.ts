/** The recordings in a support bundle, for a replay. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { createTarDecoder } from 'modern-tar';
import { errorText } from '#infra/errors/errors.ts';
import { RECORDING_BYTES } from '#infra/support-bundle/contents.ts';
import { RecordingError } from '#plugins/controller/recording/errors.ts';
import { RECORDING_FILE_NAME } from '#plugins/controller/recording/recording-file.ts';

/**
 * Calls `use` with a folder of the recordings of an archive; the path of anything else stays as it is.
 * @param maxBytes of all recordings together
 */
export async function withRecordings<T>(
  path: string,
  use: (path: string) => Promise<T>,
  maxBytes = RECORDING_BYTES,
): Promise<T> {
  if (!(await isCompressed(path))) return await use(path);
  const folder = await mkdtemp(join(tmpdir(), 'contiv-replay-'));
  try {
    await extract(path, folder, maxBytes);
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const GZIP = Buffer.of(0x1f, 0x8b);

async function isCompressed(path: string): Promise<boolean> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(GZIP.length), 0, GZIP.length, 0);
    return bytesRead === GZIP.length && buffer.equals(GZIP);
  } catch {
    // a folder, or a file that the replay reports
    return false;
  }
}

/** Only recordings, whatever else and wherever the archive wants to put it. @throws RecordingError */
async function extract(path: string, folder: string, maxBytes: number): Promise<void> {
  let left = maxBytes;
  try {
    const bytes = createGunzip();
    // The reader of `bytes` gets the error, too, but perhaps only later.
    pipeline(createReadStream(path), bytes).catch(() => undefined);
    const entries = (Readable.toWeb(bytes) as ReadableStream<Uint8Array>).pipeThrough(
      createTarDecoder({ strict: true }),
    );
    for await (const { header, body } of entries) {
      const name = basename(header.name);
      const isRecording = header.type === 'file' && RECORDING_FILE_NAME.test(name);
      if (isRecording) left -= header.size;
      // A small archive may be that of a file that fills the disk.
      if (left < 0) throw new Error(`its recordings have more than ${maxBytes} bytes`);
      const content = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
      if (isRecording)
        await pipeline(content, createWriteStream(join(folder, name), { flags: 'wx' }));
      else await finished(content.resume());
    }
  } catch (cause) {
    // The adapter to streams of the Web hides the reason.
    const isHidden = cause instanceof Error && cause.message === '' && cause.cause !== undefined;
    const reason = errorText(isHidden ? cause.cause : cause);
    throw new RecordingError(`the archive cannot be read: ${reason}`, {
      where: path,
      cause,
    });
  }
}
