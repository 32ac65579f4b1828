import type { Event } from '#eventloop/event.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { DbResync, ExternalConfigResync } from './api.ts';

export interface HandlingRecord {
  readonly handler: string;
  readonly revert: boolean;
  /** Description of the change, for updates. */
  readonly change: string;
  readonly error: string | undefined;
}

/** An answer that a handler got from a port while it handled the event. */
export interface PortAnswer {
  readonly handler: string;
  readonly question: string;
  readonly answer: unknown;
  /** Text of the error that the port gave instead. */
  readonly error?: string;
}

/** A processed event, with all that is needed to run it again without its ports. */
export interface EventRecord {
  readonly seqNum: number;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  readonly followUpTo: number | undefined;
  readonly event: Event;
  readonly description: string;
  readonly handlers: readonly HandlingRecord[];
  readonly answers: readonly PortAnswer[];
  readonly transactionError: string | undefined;
  /** Sequence number in the scheduler; undefined when nothing was committed. */
  readonly transaction: number | undefined;
}

export interface HistoryLimits {
  readonly ageMs: number;
  /** Records of the first so many milliseconds are kept whatever their age. */
  readonly permanentMs: number;
  /** Wins over both. */
  readonly bytes: number;
}

/** What a value of a snapshot is taken to weigh; walking all of them would stall. */
const BYTES_PER_SNAPSHOT_VALUE = 512;

function snapshotWeight(values: object): number {
  return BYTES_PER_SNAPSHOT_VALUE * Object.keys(values).length;
}

/** Length as JSON, about; never fails, whatever it is. */
function jsonWeight(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? 0;
  } catch {
    return BYTES_PER_SNAPSHOT_VALUE;
  }
}

function payloadWeight(event: Event): number {
  if (ExternalConfigResync.is(event)) return snapshotWeight(event.payload.values);
  if (!DbResync.is(event)) return jsonWeight(event.payload);
  let bytes = snapshotWeight(event.payload.externalConfig);
  for (const values of Object.values(event.payload.kubeState)) bytes += snapshotWeight(values);
  return bytes;
}

function weight(record: EventRecord): number {
  const { event, description, transactionError, handlers, answers } = record;
  let bytes = 512 + description.length + (transactionError?.length ?? 0) + payloadWeight(event);
  for (const { change, error } of handlers) bytes += 64 + change.length + (error?.length ?? 0);
  for (const answer of answers) bytes += jsonWeight(answer);
  return bytes;
}

/**
 * Processed events in memory, oldest first. Bounded by age and, above all, by bytes: an agent that
 * runs for months among much churn must not grow.
 */
export class EventHistory {
  #records: EventRecord[] = [];
  #weights: number[] = [];
  #bytes = 0;
  readonly #limits: HistoryLimits;
  readonly #clock: Clock;
  readonly #start: number;

  constructor(limits: HistoryLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#start = clock.now();
  }

  get records(): readonly EventRecord[] {
    return this.#records;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(record: EventRecord): void {
    const bytes = weight(record);
    this.#records.push(record);
    this.#weights.push(bytes);
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.bytes) this.#dropHeaviness();
  }

  bySeqNum(seqNum: number): EventRecord | undefined {
    return this.#records.find((record) => record.seqNum === seqNum);
  }

  /** Drops what has become too old; called now and then. */
  trim(): void {
    const permanent = this.#start + this.#limits.permanentMs;
    const oldest = this.#clock.now() - this.#limits.ageMs;
    this.#keep((record) => record.start <= permanent || record.end >= oldest);
  }

  /** Drops the oldest tenth, so that the next records need not do it again. */
  #dropHeaviness(): void {
    let bytes = this.#bytes;
    let dropped = 0;
    while (bytes > this.#limits.bytes * 0.9 && dropped < this.#records.length - 1)
      bytes -= this.#weights[dropped++]!;
    this.#records.splice(0, dropped);
    this.#weights.splice(0, dropped);
    this.#bytes = bytes;
  }

  #keep(wanted: (record: EventRecord) => boolean): void {
    const records: EventRecord[] = [];
    const weights: number[] = [];
    let bytes = 0;
    this.#records.forEach((record, index) => {
      if (!wanted(record)) return;
      records.push(record);
      weights.push(this.#weights[index]!);
      bytes += this.#weights[index]!;
    });
    this.#records = records;
    this.#weights = weights;
    this.#bytes = bytes;
  }
}
