/** Reads the whole standard input. */
import { readSync } from 'node:fs';
import { Socket } from 'node:net';

const CHUNK_BYTES = 1 << 16;

/**
 * Reads synchronously, which is faster. When the runtime has made its pipe non-blocking, waits for
 * data that is not written yet.
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
