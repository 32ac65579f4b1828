import type { Clock, Timer } from '#infra/clock/clock.ts';
import { type CodedError, defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { FlowSource } from '#linux/socket-flows/api.ts';
import type { FlowRing } from './flow-ring.ts';
import type { Recorder } from './recorder.ts';

/** A denial is known 1 s after its first packet, and has to be shown a second later. */
const INTERVAL_MS = 250;
/** After a failure. */
const RETRY_MS = 1_000;
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

export const FlowsReadError = defineError({
  name: 'FlowsReadError',
  code: 'CV_FLOWS_READ',
  isRetriable: true,
  unavailable: 'environment',
  remedy:
    'The agent tries again every second; meanwhile the kernel keeps some 29,000 events. With EPERM the agent has lost CAP_BPF. If it continues, restart the agent, and report the error.',
});

export interface FlowReaderDeps {
  readonly source: FlowSource;
  readonly recorder: Pick<Recorder, 'record' | 'settle'>;
  readonly ring: Pick<FlowRing, 'notify'>;
  /** Whether ends have names. Until then the kernel keeps the events, those of the time without an agent, too. */
  readonly isReady: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Reads what the kernel reports, at intervals. What fails is reported and tried again: nothing else depends on it. */
export class FlowReader {
  readonly #deps: FlowReaderDeps;
  #timer: Timer | undefined;
  #isClosed = false;
  #checkedAt = Number.NEGATIVE_INFINITY;
  /** Events that the kernel had no space for, as it was asked last. */
  #lostByKernel = 0;
  /** Events that were read, and have no record. */
  #unrecorded = 0;
  /** Lost ones that were logged; undefined: before the first check. */
  #logged: number | undefined;
  #readFault: CodedError | undefined;
  #programFault: CodedError | undefined;
  #faultSince: number | undefined;

  constructor(deps: FlowReaderDeps) {
    this.#deps = deps;
  }

  /** Why connections are not reported; undefined: they are. */
  get fault(): CodedError | undefined {
    return this.#programFault ?? this.#readFault;
  }

  /** Milliseconds since the epoch: since when there is a fault. */
  get faultSince(): number | undefined {
    return this.#faultSince;
  }

  /** Events without a record, since the programs were loaded. */
  get lost(): number {
    return this.#lostByKernel + this.#unrecorded;
  }

  /** Conversations of UDP that the kernel has forgotten for newer ones. */
  get displaced(): number {
    return this.#deps.source.displaced;
  }

  start(): void {
    void this.#round();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  async #round(): Promise<void> {
    const { clock, log } = this.#deps;
    try {
      await this.#read();
      if (this.#readFault) log.info('connections are read again');
      this.#readFault = undefined;
    } catch (thrown) {
      const fault = new FlowsReadError(errorText(thrown), { cause: thrown });
      const { code, message, remedy } = fault;
      if (!this.#readFault) log.warn({ code, error: message, remedy }, 'connections are not read');
      this.#readFault = fault;
    }
    this.#faultSince = this.fault ? (this.#faultSince ?? clock.now()) : undefined;
    if (this.#isClosed) return;
    const pause = this.#readFault ? RETRY_MS : INTERVAL_MS;
    this.#timer = clock.timer(pause, () => void this.#round());
  }

  async #read(): Promise<void> {
    const { source, ring, isReady, clock } = this.#deps;
    let count = 0;
    let failure: unknown;
    const record: Parameters<FlowSource['read']>[0] = (event) => {
      count++;
      try {
        this.#deps.recorder.record(event);
      } catch (thrown) {
        // it would fail again: those behind it must not wait for it
        this.#unrecorded++;
        failure = thrown;
      }
    };
    try {
      while (!this.#isClosed && isReady() && source.read(record, EVENTS_OF_TURN))
        await clock.turn();
      if (this.#isClosed) return;
      this.#lostByKernel = source.lost();
      this.#check();
    } finally {
      if (this.#deps.recorder.settle() || count > 0) ring.notify();
    }
    if (failure !== undefined) throw failure;
  }

  #check(): void {
    const { source, clock, log } = this.#deps;
    const now = clock.monotonic();
    if (now - this.#checkedAt < CHECK_MS) return;
    this.#checkedAt = now;
    const { lost } = this;
    // those that earlier agents have lost were logged by them
    const more = lost - (this.#logged ?? this.#lostByKernel);
    if (more > 0)
      log.warn(
        { events: more },
        'events of connections were lost: they came faster than the agent has read them, or could not be recorded',
      );
    this.#logged = lost;
    this.#checkParts(source.lostParts());
  }

  #checkParts(parts: readonly string[]): void {
    const { source, log } = this.#deps;
    if (parts.length === 0) {
      this.#programFault = undefined;
      return;
    }
    const text = parts.join('; ');
    try {
      source.restore();
      log.warn({ lost: text }, 'programs that report connections were removed: they run again');
      this.#programFault = undefined;
    } catch (thrown) {
      this.#programFault = new FlowsStoppedError(
        `${text}; cannot be made again: ${errorText(thrown)}`,
      );
    }
  }
}
