import type { Clock, Timer } from '#infra/clock/clock.ts';
import { type CodedError, defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { FlowSource } from '#linux/socket-flows/api.ts';
import type { FlowRing } from './flow-ring.ts';
import type { Recorder } from './recorder.ts';

/** A denial is known 1 s after its first packet, and has to be shown a second later. */
const INTERVAL_MS = 250;
/** In one turn of the event loop: some milliseconds. */
const EVENTS_OF_TURN = 500;
/** Losses are logged, and lost programs are made again, once in this time. */
const CHECK_MS = 60_000;

export const FlowsStoppedError = defineError({
  name: 'FlowsStoppedError',
  code: 'CV_FLOWS_STOPPED',
  unavailable: 'environment',
  remedy:
    'Find the process that has removed the programs from the bpf file system of the host, or has unmounted it. The agent tries every minute to make them again.',
});

export interface FlowReaderDeps {
  readonly source: FlowSource;
  readonly recorder: Pick<Recorder, 'record'>;
  readonly ring: Pick<FlowRing, 'notify'>;
  /** Whether ends have names. Until then the kernel keeps the events, those of the time without an agent, too. */
  readonly isReady: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Reads what the kernel reports, at intervals. */
export class FlowReader {
  readonly #deps: FlowReaderDeps;
  #timer: Timer | undefined;
  #isClosed = false;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #lost = 0;
  #fault: CodedError | undefined;

  constructor(deps: FlowReaderDeps) {
    this.#deps = deps;
  }

  /** Why connections are not reported; undefined: they are. */
  get fault(): CodedError | undefined {
    return this.#fault;
  }

  start(): void {
    this.#lost = this.#deps.source.lost();
    void this.#round();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  async #round(): Promise<void> {
    const { source, recorder, ring, isReady, clock } = this.#deps;
    let count = 0;
    const record: Parameters<FlowSource['read']>[0] = (event) => {
      count++;
      recorder.record(event);
    };
    while (!this.#isClosed && isReady() && source.read(record, EVENTS_OF_TURN)) await clock.turn();
    if (this.#isClosed) return;
    if (count > 0) ring.notify();
    this.#check();
    this.#timer = clock.timer(INTERVAL_MS, () => void this.#round());
  }

  #check(): void {
    const { source, clock, log } = this.#deps;
    const now = clock.monotonic();
    if (now - this.#checkedAt < CHECK_MS) return;
    this.#checkedAt = now;
    const lost = source.lost();
    if (lost > this.#lost)
      log.warn(
        { events: lost - this.#lost },
        'events of connections were lost: they came faster than the agent has read them',
      );
    this.#lost = lost;
    const parts = source.lostParts();
    if (parts.length === 0) {
      this.#fault = undefined;
      return;
    }
    const text = parts.join('; ');
    try {
      source.restore();
      log.warn({ lost: text }, 'programs that report connections were removed: they run again');
      this.#fault = undefined;
    } catch (thrown) {
      this.#fault = new FlowsStoppedError(`${text}; cannot be made again: ${errorText(thrown)}`);
    }
  }
}
