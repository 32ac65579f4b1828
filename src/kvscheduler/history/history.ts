/** The records of past transactions that have not expired. */
import type { Clock } from '#infra/clock/clock.ts';
import type { Slices } from '#infra/clock/slices.ts';
import { Fifo } from '#infra/collections/fifo.ts';
import type { RecordedTxn } from './record.ts';
import { fitRecord } from './record-size.ts';
import { type Kept, Retention, type RetentionLimits } from './retention.ts';

interface Entry {
  readonly record: RecordedTxn;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly stop: number;
}

/** A single record takes half of the limit at most. */
const MAX_SHARE = 1 / 2;
/** Larger records are shortened to this share of the limit before smaller ones are dropped. */
const SMALL_SHARE = 1 / 64;

export class History {
  readonly #maxRecordBytes: number;
  readonly #smallBytes: number;
  readonly #kept: Retention<Entry>;
  /** Records that can be shortened, the oldest first. */
  readonly #large = new Fifo<Kept<Entry>>();
  readonly #bySeqNum = new Map<number, RecordedTxn>();

  constructor(clock: Clock, limits: RetentionLimits) {
    this.#maxRecordBytes = limits.bytes * MAX_SHARE;
    this.#smallBytes = limits.bytes * SMALL_SHARE;
    this.#kept = new Retention(clock, limits);
  }

  get bytes(): number {
    return this.#kept.bytes;
  }

  /** Adds a record; the lists of one that is too big are shortened, and so are older large ones. */
  async add(record: RecordedTxn, start: number, stop: number, slices: Slices): Promise<void> {
    const bytes = await fitRecord(record, this.#maxRecordBytes, slices);
    const kept = this.#kept.add({ record, start, stop }, start, stop, bytes);
    this.#bySeqNum.set(record.SeqNum, record);
    if (bytes > this.#smallBytes) this.#large.push(kept);
    while (this.#kept.isFull && this.#large.size > 1) await this.#shortenOldest(slices);
    this.#trim();
  }

  get(seqNum: number): RecordedTxn | undefined {
    this.#trim();
    return this.#bySeqNum.get(seqNum);
  }

  /**
   * Records, the oldest first, of transactions that were running in the window; none if it ends
   * before it begins.
   * @param since milliseconds since the epoch; absent: from the oldest
   * @param until likewise; absent: up to the last
   */
  list(since = 0, until = Number.POSITIVE_INFINITY): RecordedTxn[] {
    this.#trim();
    const records: RecordedTxn[] = [];
    if (until < since) return records;
    for (const { record, start, stop } of this.#kept.all())
      if (stop >= since && start <= until) records.push(record);
    return records;
  }

  async #shortenOldest(slices: Slices): Promise<void> {
    const kept = this.#large.shift();
    if (!kept || !this.#bySeqNum.has(kept.item.record.SeqNum)) return;
    this.#kept.resize(kept, await fitRecord(kept.item.record, this.#smallBytes, slices));
  }

  #trim(): void {
    for (let entry = this.#kept.takeExpired(); entry; entry = this.#kept.takeExpired())
      this.#bySeqNum.delete(entry.record.SeqNum);
  }
}
