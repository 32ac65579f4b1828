/** Standard input, whole. */
import { readSync } from 'node:fs';
import { Socket } from 'node:net';

const CHUNK_BYTES = 1 << 16;

/**
 * Read at once as long as there is something, which is the faster way. Where the runtime has made
 * its pipe non-blocking, what is not written yet is waited for.
 */
export async function readInput(fd: number): Promise<string> {
  const pieces: Buffer[] = [];
  for (;;) {
    const piece = Buffer.allocUnsafe(CHUNK_BYTES);
    let length: number;
    try {
      length = readSync(fd, piece);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      for await (const rest of new Socket({ fd, writable: false })) pieces.push(rest);
      break;
    }
    if (length === 0) break;
    pieces.push(piece.subarray(0, length));
  }
  return Buffer.concat(pieces).toString('utf8');
}
