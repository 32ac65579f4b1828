/**
 * The lines that VPP writes to its standard error. It writes some for every packet of a kind, for example an ICMP error
 * about a protocol that NAT44 does not know, past its own limits: the sender of such packets would fill the log of the
 * container, and stop VPP whenever its reader is slow. So all lines are read, and only so many are passed on.
 */
import { Writable } from 'node:stream';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';

/** Lines at once: a start, or a crash with its stack, has fewer. */
const BURST = 1_000;
const LINES_PER_SECOND = 10;
/** How often dropped lines are counted in the log. */
const REPORT_MS = 10_000;

export interface VppMessagesDeps {
  readonly write: (bytes: Buffer) => void;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}

export class VppMessages extends Writable {
  readonly #deps: VppMessagesDeps;
  /** Lines that may be passed on now. */
  #allowance = BURST;
  #countedAt: number;
  #dropped = 0;
  #report: Timer | undefined;

  constructor(deps: VppMessagesDeps) {
    super();
    this.#deps = deps;
    this.#countedAt = deps.clock.monotonic();
  }

  /** The last line of a VPP that ends may have no end: each piece of a line is passed on at once. */
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    // latin1: each byte is a character, also those of a character that continues in the next chunk
    this.#pass(chunk.toString('latin1').split(/(?<=\n)/));
    done();
  }

  #pass(lines: readonly string[]): void {
    const now = this.#deps.clock.monotonic();
    const gained = ((now - this.#countedAt) / 1_000) * LINES_PER_SECOND;
    this.#allowance = Math.min(BURST, this.#allowance + gained);
    this.#countedAt = now;
    const passed = Math.min(lines.length, Math.floor(this.#allowance));
    this.#allowance -= passed;
    if (passed > 0) this.#deps.write(Buffer.from(lines.slice(0, passed).join(''), 'latin1'));
    if (passed < lines.length) this.#drop(lines.length - passed);
  }

  #drop(lines: number): void {
    this.#dropped += lines;
    this.#report ??= this.#deps.clock.timer(REPORT_MS, () => {
      this.#deps.log.warn(
        { lines: this.#dropped, perSecond: LINES_PER_SECOND },
        'dropped lines of VPP, which wrote more than are passed on',
      );
      this.#dropped = 0;
      this.#report = undefined;
    });
  }
}
