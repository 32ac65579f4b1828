/** The records of past transactions that have not expired. */
import type { Clock } from '#infra/clock/clock.ts';
import type { Slices } from '#infra/clock/slices.ts';
import type { RecordedKeyValue, RecordedTxn, RecordedTxnOp, RecordedValue } from './record.ts';
import { Retention, type RetentionLimits } from './retention.ts';
import { roughSize } from './rough-size.ts';

interface Entry {
  readonly record: RecordedTxn;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly stop: number;
}

const BYTES_OF_RECORD = 512;
const BYTES_OF_OPERATION = 256;

export class History {
  /** A single record takes half of the limit at most. */
  readonly #maxRecordBytes: number;
  readonly #kept: Retention<Entry>;
  readonly #bySeqNum = new Map<number, RecordedTxn>();

  constructor(clock: Clock, limits: RetentionLimits) {
    this.#maxRecordBytes = limits.bytes / 2;
    this.#kept = new Retention(clock, limits);
  }

  get bytes(): number {
    return this.#kept.bytes;
  }

  /** Adds a record; the lists of one that is too big are shortened. */
  async add(record: RecordedTxn, start: number, stop: number, slices: Slices): Promise<void> {
    const bytes = await fit(record, this.#maxRecordBytes, slices);
    this.#kept.add({ record, start, stop }, start, stop, bytes);
    this.#bySeqNum.set(record.SeqNum, record);
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

  #trim(): void {
    for (let entry = this.#kept.takeExpired(); entry; entry = this.#kept.takeExpired())
      this.#bySeqNum.delete(entry.record.SeqNum);
  }
}

/** Shortens the record's lists to fit into the limit. @returns its rough size */
async function fit(record: RecordedTxn, maxBytes: number, slices: Slices): Promise<number> {
  let bytes = BYTES_OF_RECORD + (record.Description?.length ?? 0);
  let omitted = 0;
  const shorten = async <T>(
    items: readonly T[] | undefined,
    sizeOf: (item: T) => number,
    counted?: Set<T>,
  ): Promise<readonly T[] | undefined> => {
    if (!items) return undefined;
    let kept = 0;
    for (const item of items) {
      if (slices.due()) await slices.turn();
      const size = counted?.has(item) ? 8 : sizeOf(item);
      if (bytes + size > maxBytes) break;
      counted?.add(item);
      bytes += size;
      kept++;
    }
    omitted += items.length - kept;
    return kept === items.length ? items : items.slice(0, kept);
  };
  // An operation that was executed as planned is in both lists.
  const operations = new Set<RecordedTxnOp>();
  const executed = await shorten(record.Executed, sizeOfOperation, operations);
  const planned = await shorten(record.Planned, sizeOfOperation, operations);
  const values = await shorten(record.Values, sizeOfKeyValue);
  if (executed) record.Executed = executed;
  if (planned) record.Planned = planned;
  if (values) record.Values = values;
  const retrieveErrors = await shorten(record.RetrieveErrors, sizeOfText);
  const verificationErrors = await shorten(record.VerificationErrors, sizeOfText);
  if (retrieveErrors) record.RetrieveErrors = retrieveErrors;
  if (verificationErrors) record.VerificationErrors = verificationErrors;
  if (omitted > 0) record.Omitted = omitted;
  return bytes;
}

function sizeOfOperation(operation: RecordedTxnOp): number {
  const { Key, NewValue, PrevValue, NewErrMsg = '', PrevErrMsg = '' } = operation;
  const texts = Key.length + NewErrMsg.length + PrevErrMsg.length;
  return BYTES_OF_OPERATION + texts + sizeOfValue(NewValue) + sizeOfValue(PrevValue);
}

function sizeOfText(text: string): number {
  return 32 + text.length;
}

function sizeOfKeyValue({ Key, Value }: RecordedKeyValue): number {
  return 64 + Key.length + sizeOfValue(Value ?? undefined);
}

function sizeOfValue(value: RecordedValue | undefined): number {
  return value ? 32 + roughSize(value.value) : 0;
}
