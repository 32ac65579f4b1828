import { type FileHandle, mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Flow } from '#documents/flows.ts';
import type { FlowSink } from './flow-sink.ts';

/** Records may name addresses outside the cluster. */
const OWNER_ONLY = 0o600;
const NEWLINE = 0x0a;

export interface JsonLinesOptions {
  readonly path: string;
  /** A file that is longer becomes `<path>.1`, in place of the one before. */
  readonly maxBytes: number;
}

/** A file with one record a line, as JSON; it is opened for each write, so that others may move it away. */
export class JsonLines implements FlowSink {
  readonly name = 'exportFile';
  readonly #options: JsonLinesOptions;

  constructor(options: JsonLinesOptions) {
    this.#options = options;
  }

  async write(flows: readonly Flow[]): Promise<void> {
    const { path, maxBytes } = this.#options;
    await mkdir(dirname(path), { recursive: true });
    if ((await length(path)) >= maxBytes) await rename(path, `${path}.1`);
    const lines = flows.map((flow) => `${JSON.stringify(flow)}\n`).join('');
    const file = await open(path, 'a+', OWNER_ONLY);
    try {
      await file.appendFile((await isCut(file)) ? `\n${lines}` : lines);
    } finally {
      await file.close();
    }
  }

  close(): void {
    // no file is open between two writes
  }
}

/** Whether the last line has no end: the disk was full, or the process was killed. The next record needs a line of its own. */
async function isCut(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const { bytesRead, buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] !== NEWLINE;
}

/** Of a file: to open a pipe may have no end, and a device is not to be renamed. */
async function length(path: string): Promise<number> {
  try {
    const found = await stat(path);
    if (!found.isFile()) throw new Error(`${path} is no file`);
    return found.size;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw thrown;
  }
}
