import type { Clock } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { EventRecord } from './event-record.ts';

export interface HistoryLimits {
  readonly ageMs: number;
  /** Records of this initial period are kept regardless of their age. */
  readonly permanentMs: number;
  /** Takes precedence over both. */
  readonly bytes: number;
  /** No event is recorded. */
  readonly isOff?: boolean;
}

/** Number of records that were dropped, by reason. */
export interface DroppedRecords {
  readonly byAge: number;
  readonly bySize: number;
}

/** Measured sizes: objects of a record, of one handler in it, and of its transaction's trace. */
const RECORD_BYTES = 640;
const HANDLER_BYTES = 104;
const TRANSACTION_BYTES = 144;
/** V8 keeps a text as the pieces that it was put together from. */
const TEXT_BYTES = 80;
/** Share of the limit that is freed when it is reached, so that the next records fit. */
const FREED_SHARE = 0.1;
/** Permanent records are dropped only if they exceed this share of the limit, to keep recent ones. */
const PERMANENT_SHARE = 0.5;

function sizeOf(record: EventRecord): number {
  const { description, name, transactionError, handlers, trace } = record;
  let bytes = RECORD_BYTES + description.length + name.length + (transactionError?.length ?? 0);
  if (trace.commitMs !== undefined) bytes += TRANSACTION_BYTES;
  for (const { change, error } of handlers)
    bytes += HANDLER_BYTES + sizeOfText(change) + sizeOfText(error ?? '');
  return bytes;
}

function sizeOfText({ length }: string): number {
  return length === 0 ? 0 : TEXT_BYTES + length;
}

/**
 * Processed events in memory, oldest first. Bounded by age and, with precedence, by bytes: the
 * memory of an agent that runs for months must not grow.
 */
export class EventHistory {
  #records: EventRecord[] = [];
  #sizes: number[] = [];
  #bytes = 0;
  #byAge = 0;
  #bySize = 0;
  readonly #permanentUntil: number;
  readonly #limits: HistoryLimits;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #listeners = new Set<() => void>();
  /** Milliseconds since the epoch. */
  readonly started: number;

  constructor(limits: HistoryLimits, clock: Clock, log: Logger) {
    this.#limits = limits;
    this.#clock = clock;
    this.#log = log;
    this.started = Math.floor(clock.now());
    this.#permanentUntil = clock.now() + limits.permanentMs;
  }

  get records(): readonly EventRecord[] {
    return this.#records;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isOff(): boolean {
    return this.#limits.isOff ?? false;
  }

  get dropped(): DroppedRecords {
    return { byAge: this.#byAge, bySize: this.#bySize };
  }

  add(record: EventRecord): void {
    if (this.isOff) return;
    const bytes = sizeOf(record);
    this.#records.push(record);
    this.#sizes.push(bytes);
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.bytes) this.#dropToLimit();
    for (const listener of this.#listeners) listener();
  }

  /** Calls back after each new record. @returns ends it */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Sequence number after that of the newest record. */
  get nextSeqNum(): number {
    return (this.#records.at(-1)?.seqNum ?? -1) + 1;
  }

  bySeqNum(seqNum: number): EventRecord | undefined {
    const record = this.firstFrom(seqNum);
    return record?.seqNum === seqNum ? record : undefined;
  }

  /** The oldest record with at least this sequence number. */
  firstFrom(seqNum: number): EventRecord | undefined {
    return this.#records[this.#indexOfFirst((one) => one.seqNum >= seqNum)];
  }

  /** Drops records that are too old; called periodically. */
  trim(): void {
    const oldest = this.#clock.now() - this.#limits.ageMs;
    const from = this.#permanentCount;
    let to = from;
    while (to < this.#records.length && this.#records[to]!.end < oldest) to++;
    this.#byAge += to - from;
    this.#drop(from, to);
  }

  /** Permanent records are at the beginning. */
  get #permanentCount(): number {
    return this.#indexOfFirst((one) => one.start > this.#permanentUntil);
  }

  /** Index of the first record for which the condition is true, as it is for all after it. */
  #indexOfFirst(isBehind: (record: EventRecord) => boolean): number {
    let low = 0;
    let high = this.#records.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBehind(this.#records[middle]!)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Drops the oldest records first, permanent ones last; the newest record stays. */
  #dropToLimit(): void {
    const before = this.#records.length;
    const permanent = this.#permanentCount;
    const wanted = this.#limits.bytes * (1 - FREED_SHARE);
    let kept = 0;
    for (let at = 0; at < permanent; at++) kept += this.#sizes[at]!;
    if (kept > this.#limits.bytes * PERMANENT_SHARE) this.#dropFrom(0, permanent, wanted);
    else this.#dropFrom(permanent, before, wanted);
    const dropped = before - this.#records.length;
    this.#bySize += dropped;
    const { bytes } = this.#limits;
    this.#log.info({ dropped, limit: bytes }, 'event history is full: dropped the oldest records');
  }

  /** Drops the oldest of a range until the size limit is met, but never the last record of all. */
  #dropFrom(from: number, end: number, bytes: number): void {
    let left = this.#bytes;
    let to = from;
    while (left > bytes && to < end && to < this.#records.length - 1) left -= this.#sizes[to++]!;
    this.#drop(from, to);
  }

  #drop(from: number, to: number): void {
    if (from === to) return;
    for (let at = from; at < to; at++) this.#bytes -= this.#sizes[at]!;
    this.#records.splice(from, to - from);
    this.#sizes.splice(from, to - from);
  }
}
