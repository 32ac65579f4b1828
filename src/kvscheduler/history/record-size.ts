/** The rough size of a record in memory, and how it is shortened to a limit. */
import { filterInSlices, type Slices } from '#infra/clock/slices.ts';
import type { RecordedKeyValue, RecordedTxn, RecordedTxnOp, RecordedValue } from './record.ts';
import { roughSize } from './rough-size.ts';

const BYTES_OF_RECORD = 512;
const BYTES_OF_OPERATION = 256;

const none: readonly never[] = [];

/**
 * Shortens the lists of a record to fit into the limit. Operations that failed are kept first, then the
 * other executed ones, the errors, the plan, and at last the values.
 * @returns its rough size
 */
export async function fitRecord(
  record: RecordedTxn,
  maxBytes: number,
  slices: Slices,
): Promise<number> {
  const whole = await sizeOfRecord(record, slices);
  if (whole <= maxBytes) return whole;
  let bytes = BYTES_OF_RECORD + (record.Description?.length ?? 0);
  let omitted = record.Omitted ?? 0;
  /** Selects items in turn until one does not fit. */
  const select = async <T>(
    items: readonly T[],
    sizeOf: (item: T) => number,
    selected: Set<T>,
  ): Promise<void> => {
    for (const item of items) {
      if (slices.due()) await slices.turn();
      if (selected.has(item)) continue;
      const size = sizeOf(item);
      if (bytes + size > maxBytes) return;
      bytes += size;
      selected.add(item);
    }
  };
  const shorten = async <T>(items: readonly T[] | undefined, selected: ReadonlySet<T>) => {
    if (!items) return undefined;
    const kept = await filterInSlices(items, (item) => selected.has(item), slices);
    omitted += items.length - kept.length;
    return kept.length === items.length ? items : kept;
  };
  const texts = async (items: readonly string[] | undefined) => {
    if (!items) return undefined;
    const selected = new Set<string>();
    await select(items, sizeOfText, selected);
    return shorten(items, selected);
  };
  const { Executed, Planned, Values } = record;
  // An operation that was executed as planned is in both lists.
  const operations = new Set<RecordedTxnOp>();
  const isFailed = ({ NewErrMsg }: RecordedTxnOp): boolean => NewErrMsg !== undefined;
  const failed = await filterInSlices(Executed ?? none, isFailed, slices);
  await select(failed, sizeOfOperation, operations);
  await select(Executed ?? [], sizeOfOperation, operations);
  const retrieveErrors = await texts(record.RetrieveErrors);
  const verificationErrors = await texts(record.VerificationErrors);
  await select(Planned ?? [], sizeOfOperation, operations);
  const values = new Set<RecordedKeyValue>();
  await select(Values ?? [], sizeOfKeyValue, values);

  const executed = await shorten(Executed, operations);
  if (executed) record.Executed = executed;
  const planned = await shorten(Planned, operations);
  if (planned) record.Planned = planned;
  const kept = await shorten(Values, values);
  if (kept) record.Values = kept;
  if (retrieveErrors) record.RetrieveErrors = retrieveErrors;
  if (verificationErrors) record.VerificationErrors = verificationErrors;
  if (omitted > 0) record.Omitted = omitted;
  return bytes;
}

async function sizeOfRecord(record: RecordedTxn, slices: Slices): Promise<number> {
  const { Executed = none, Planned = none, Values = none } = record;
  let bytes = BYTES_OF_RECORD + (record.Description?.length ?? 0);
  const add = async <T>(items: readonly T[], sizeOf: (item: T) => number): Promise<void> =>
    slices.each(items, (item) => {
      bytes += sizeOf(item);
    });
  await add(Executed, sizeOfOperation);
  await add(notIn(Executed, Planned), sizeOfOperation);
  await add(Values, sizeOfKeyValue);
  await add(record.RetrieveErrors ?? none, sizeOfText);
  await add(record.VerificationErrors ?? none, sizeOfText);
  return bytes;
}

/** Operations that were not executed as planned. */
function notIn(
  executed: readonly RecordedTxnOp[],
  planned: readonly RecordedTxnOp[],
): readonly RecordedTxnOp[] {
  // Most often all were.
  if (planned.every((operation, i) => operation === executed[i])) return none;
  const known = new Set(executed);
  return planned.filter((operation) => !known.has(operation));
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
