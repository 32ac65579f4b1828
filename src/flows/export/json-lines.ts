import { appendFile, mkdir, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Flow } from '#documents/flows.ts';
import type { FlowSink } from './flow-sink.ts';

/** Records may name addresses outside the cluster. */
const OWNER_ONLY = 0o600;

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
    await appendFile(path, lines, { mode: OWNER_ONLY });
  }

  close(): void {
    // no file is open between two writes
  }
}

async function length(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw thrown;
  }
}
