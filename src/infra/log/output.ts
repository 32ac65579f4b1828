/** Standard output of a daemon: log lines and the boxes of events. */
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import type { Clock } from '../clock/clock.ts';

/** How long a write waits for the reader of a full pipe. */
const MAX_WAIT_MS = 200;
const WAIT_MS = 10;

/**
 * Writes synchronously, so that the last line before a crash is written. A failure never reaches the
 * caller: an agent whose log is on a full disk, or has no reader, must continue. The texts that are lost
 * meanwhile are counted, and the first one that can be written again reports their number.
 */
export class Output {
  readonly #descriptor: number;
  readonly #clock: Clock;
  #lost = 0;
  /** Error of the last write; undefined after a success. */
  #error: string | undefined;

  constructor(descriptor: number, clock: Clock) {
    this.#descriptor = withoutBlocking(descriptor);
    this.#clock = clock;
  }

  write(text: string): void {
    if (this.#lost > 0 && this.#tryWrite(this.#report())) this.#lost = 0;
    // A line that was written partially would make the next one unreadable.
    if (this.#lost > 0 || !this.#tryWrite(text)) this.#lost++;
  }

  #report(): string {
    const message = 'the output could not be written: texts are lost';
    const time = new Date(this.#clock.now()).toISOString();
    const error = this.#error;
    return `\n${JSON.stringify({ level: 'warn', time, logger: 'log', error, lost: this.#lost, msg: message })}\n`;
  }

  #tryWrite(text: string): boolean {
    let rest = Buffer.from(text);
    let waited = 0;
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(this.#descriptor, rest));
      } catch (error) {
        const { code = String(error) } = error as NodeJS.ErrnoException;
        if (code !== 'EAGAIN' || waited >= MAX_WAIT_MS || this.#lost > 0) {
          this.#error = code;
          return false;
        }
        waited += WAIT_MS;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
      }
    }
    return true;
  }
}

/**
 * A pipe is opened once more: others have the same one, such as VPP beside contiv-init, and would lose output if
 * their writes did not wait for the reader.
 */
function withoutBlocking(descriptor: number): number {
  try {
    if (!fstatSync(descriptor).isFIFO()) return descriptor;
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // Without /proc, without a reader, or the pipe of another user
    return descriptor;
  }
}
