/** Standard output of a daemon: log lines and the boxes of events. */
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants as osConstants } from 'node:os';
import type Koffi from 'koffi';
import type { Clock } from '../clock/clock.ts';

/** How long a write waits for the reader of a full pipe or socket. */
const MAX_WAIT_MS = 200;
const WAIT_MS = 10;

/**
 * Writes synchronously, so that the last line before a crash is written. A failure never reaches the
 * caller: an agent whose log is on a full disk, or has no reader, must continue. The texts that are lost
 * meanwhile are counted, and the first one that can be written again reports their number.
 */
export class Output {
  readonly #write: Write;
  readonly #clock: Pick<Clock, 'wallTime'>;
  readonly #errorDescriptor: number;
  #lost = 0;
  /** Error of the last write; undefined after a success. */
  #error: string | undefined;

  /** @param errorDescriptor of the standard error, which gets the first error */
  constructor(descriptor: number, clock: Pick<Clock, 'wallTime'>, errorDescriptor = 2) {
    this.#errorDescriptor = errorDescriptor;
    this.#write = writeWithoutBlocking(descriptor);
    this.#clock = clock;
  }

  write(text: string): void {
    if (this.#lost > 0 && this.#tryWrite(this.#report())) this.#lost = 0;
    // A line that was written partially would make the next one unreadable.
    if (this.#lost > 0 || !this.#tryWrite(text)) this.#lost++;
    if (this.#lost === 1) this.#reportError();
  }

  /** At the first text that is lost: the output itself cannot report it before it can be written again. */
  #reportError(): void {
    const text = `the standard output cannot be written (${this.#error}): log lines are lost\n`;
    try {
      writeWithoutBlocking(this.#errorDescriptor)(Buffer.from(text));
    } catch {
      // nothing is left that could be told
    }
  }

  #report(): string {
    const message = 'the output could not be written: texts are lost';
    const time = new Date(this.#clock.wallTime()).toISOString();
    const error = this.#error;
    return `\n${JSON.stringify({ level: 'warn', time, logger: 'log', error, lost: this.#lost, msg: message })}\n`;
  }

  #tryWrite(text: string): boolean {
    let rest = Buffer.from(text);
    let waited = 0;
    while (rest.length > 0) {
      try {
        rest = rest.subarray(this.#write(rest));
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

/** @returns the number of bytes that were written @throws an error with a code, `EAGAIN` if the reader is too slow */
type Write = (bytes: Buffer) => number;

/**
 * Others have the same pipe or socket, such as VPP beside contiv-init, and would lose output if their writes did not
 * wait for the reader: so it is not set to the mode in which writes do not block.
 */
function writeWithoutBlocking(descriptor: number): Write {
  const write = (to: number) => (bytes: Buffer) => writeSync(to, bytes);
  try {
    const file = fstatSync(descriptor);
    if (file.isFIFO())
      return write(
        openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK),
      );
    if (file.isSocket()) return sendWithoutBlocking(descriptor);
  } catch {
    // Without /proc, without a reader, or the pipe of another user
  }
  return write(descriptor);
}

const DONT_WAIT = 0x40;
const NO_SIGNAL = 0x4000;

/** A socket, as systemd gives it to its services, cannot be opened once more. */
function sendWithoutBlocking(descriptor: number): Write {
  // Takes some milliseconds, and the output of containers is a pipe.
  const koffi = createRequire(import.meta.url)('koffi') as typeof Koffi;
  const send = koffi
    .load(null)
    .func('long send(int socket, const uint8_t *bytes, size_t length, int flags)');
  return (bytes) => {
    const sent: number = send(descriptor, bytes, bytes.length, DONT_WAIT | NO_SIGNAL);
    if (sent >= 0) return sent;
    const errno = koffi.errno();
    const [code] = Object.entries(osConstants.errno).find(([, value]) => value === errno) ?? [];
    throw Object.assign(new Error(`send: ${code}`), { code: code ?? `errno ${errno}` });
  };
}
