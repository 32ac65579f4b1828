/**
 * The records of past transactions, bounded by age and by bytes. What happened in the first period
 * of the agent's life is kept however old it gets, as long as there is room.
 */
import type { Clock } from '#infra/clock/clock.ts';
import type { RecordedKeyValue, RecordedTxn, RecordedTxnOp, RecordedValue } from './record.ts';
import { roughSize } from './size.ts';
import type { Slices } from './slices.ts';

export interface HistoryLimits {
  /** Milliseconds after which a record is dropped. */
  readonly ageMs: number;
  /** Milliseconds from the beginning whose records are not dropped for their age. */
  readonly initMs: number;
  /** Rough size of all records in memory. A single record gets half of it at most. */
  readonly bytes: number;
}

export const defaultHistoryLimits: HistoryLimits = {
  ageMs: 24 * 60 * 60_000,
  initMs: 60 * 60_000,
  bytes: 32 * 1024 * 1024,
};

interface Entry {
  readonly record: RecordedTxn;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly stop: number;
  readonly bytes: number;
  readonly permanent: boolean;
}

const bytesOfRecord = 512;
const bytesOfOperation = 256;

export class History {
  readonly #clock: Clock;
  readonly #limits: HistoryLimits;
  readonly #began: number;
  readonly #entries = new Map<number, Entry>();
  #bytes = 0;

  constructor(clock: Clock, limits: HistoryLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#began = clock.now();
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes a record in; one that is too big loses the end of its lists. */
  async add(record: RecordedTxn, start: number, stop: number, slices: Slices): Promise<void> {
    const bytes = await fit(record, this.#limits.bytes / 2, slices);
    const permanent = stop - this.#began <= this.#limits.initMs;
    this.#entries.set(record.SeqNum, { record, start, stop, bytes, permanent });
    this.#bytes += bytes;
    this.#trim();
  }

  get(seqNum: number): RecordedTxn | undefined {
    this.#trim();
    return this.#entries.get(seqNum)?.record;
  }

  /**
   * Records, the oldest first, of transactions that were running in the window.
   * @param since milliseconds since the epoch; absent: from the oldest
   * @param until likewise; absent: up to the last
   */
  list(since = 0, until = Number.POSITIVE_INFINITY): RecordedTxn[] {
    this.#trim();
    const records: RecordedTxn[] = [];
    for (const { record, start, stop } of this.#entries.values())
      if (stop >= since && start <= until) records.push(record);
    return records;
  }

  #trim(): void {
    const oldest = this.#clock.now() - this.#limits.ageMs;
    for (const [seqNum, { stop, permanent }] of this.#entries) {
      if (permanent) continue;
      if (stop >= oldest) break;
      this.#drop(seqNum);
    }
    for (const onlyOthers of [true, false])
      for (const [seqNum, { permanent }] of this.#entries) {
        if (this.#bytes <= this.#limits.bytes) return;
        if (!permanent || !onlyOthers) this.#drop(seqNum);
      }
  }

  #drop(seqNum: number): void {
    this.#bytes -= this.#entries.get(seqNum)?.bytes ?? 0;
    this.#entries.delete(seqNum);
  }
}

/** Shortens the record's lists to what fits. @returns its rough size */
async function fit(record: RecordedTxn, room: number, slices: Slices): Promise<number> {
  const counted = new Set<object>();
  let bytes = bytesOfRecord + (record.Description?.length ?? 0);
  let omitted = 0;
  const shorten = async <T extends object>(
    items: readonly T[] | undefined,
    sizeOf: (item: T) => number,
  ): Promise<readonly T[] | undefined> => {
    if (!items) return undefined;
    let kept = 0;
    for (const item of items) {
      if (slices.due()) await slices.turn();
      const size = counted.has(item) ? 8 : sizeOf(item);
      if (bytes + size > room) break;
      counted.add(item);
      bytes += size;
      kept++;
    }
    omitted += items.length - kept;
    return kept === items.length ? items : items.slice(0, kept);
  };
  const executed = await shorten(record.Executed, sizeOfOperation);
  const planned = await shorten(record.Planned, sizeOfOperation);
  const values = await shorten(record.Values, sizeOfKeyValue);
  if (executed) record.Executed = executed;
  if (planned) record.Planned = planned;
  if (values) record.Values = values;
  if (omitted > 0) record.Omitted = omitted;
  return bytes;
}

function sizeOfOperation(operation: RecordedTxnOp): number {
  const { Key, NewValue, PrevValue } = operation;
  return bytesOfOperation + Key.length + sizeOfValue(NewValue) + sizeOfValue(PrevValue);
}

function sizeOfKeyValue({ Key, Value }: RecordedKeyValue): number {
  return 64 + Key.length + sizeOfValue(Value ?? undefined);
}

function sizeOfValue(value: RecordedValue | undefined): number {
  return value ? 32 + roughSize(value.value) : 0;
}
