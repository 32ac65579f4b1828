/**
 * A transaction's record as text: the box in the log and in `txn-history?format=text`. It is yielded
 * entry by entry, so that a big one can be written in slices.
 */
import type { RecordedKeyValue, RecordedTxn, RecordedTxnOp, RecordedValue } from './record.ts';
import { originNumber } from './record.ts';
import { microsOf } from './time.ts';

const WIDTH = 120;

/** Header, arguments and plan: written before the first request is sent. */
export function* beginningText(record: RecordedTxn): Generator<string, void, void> {
  yield `+${'='.repeat(WIDTH - 2)}+\n`;
  yield `${line('|', `Transaction #${record.SeqNum}`, headline(record))}\n`;
  yield `+${'='.repeat(WIDTH - 2)}+\n`;
  yield '  * transaction arguments:\n';
  yield `      - seq-num: ${record.SeqNum}\n`;
  yield `      - type: ${headline(record)}\n`;
  yield* descriptionText(record.Description);
  yield* valuesText(record);
  yield '  * planned operations:\n';
  yield* operationsText(record.Planned);
}

/** The executed operations and the duration. */
export function* endText(record: RecordedTxn): Generator<string, void, void> {
  const took = tookText(record);
  yield `o${'-'.repeat(WIDTH - 2)}o\n`;
  for (const error of record.RetrieveErrors ?? []) yield `  * not read back: ${indented(error)}\n`;
  yield `  * executed operations (${record.Start} - ${record.Stop}, duration = ${took}):\n`;
  if (isAsPlanned(record)) yield '      as planned\n';
  else yield* operationsText(record.Executed);
  for (const error of record.VerificationErrors ?? [])
    yield `  * differs from the southbound: ${indented(error)}\n`;
  if (record.Omitted) yield `  * left out of this record: ${record.Omitted} entries\n`;
  yield `x${'-'.repeat(WIDTH - 2)}x\n`;
  yield `${line('x', `#${record.SeqNum}`, `took ${took}`)}\n`;
  yield `x${'-'.repeat(WIDTH - 2)}x\n`;
}

export function* recordText(record: RecordedTxn): Generator<string, void, void> {
  yield* beginningText(record);
  if (!record.PreRecord) yield* endText(record);
}

/** Every planned operation was executed and succeeded. */
function isAsPlanned({ Planned = [], Executed = [] }: RecordedTxn): boolean {
  if (Planned.length === 0 || Planned.length !== Executed.length) return false;
  return Planned.every((operation, at) => operation === Executed[at]);
}

function line(edge: string, left: string, right: string): string {
  const padding = Math.max(1, WIDTH - 4 - left.length - right.length);
  return `${edge} ${left}${' '.repeat(padding)}${right} ${edge}`;
}

const typeTexts = {
  NBTransaction: 'NB transaction',
  SBNotification: 'SB notification',
  RetryFailedOps: 'retry of failed operations',
} as const;

const resyncTexts = {
  FullResync: 'Full Resync',
  UpstreamResync: 'NB Sync',
  DownstreamResync: 'SB Sync',
} as const;

function headline({ TxnType, ResyncType, RetryForTxn, RetryAttempt }: RecordedTxn): string {
  if (ResyncType) return `${typeTexts[TxnType]}, ${resyncTexts[ResyncType]}`;
  if (RetryAttempt === undefined) return typeTexts[TxnType];
  return `retrying failed TXN #${RetryForTxn} (attempt ${RetryAttempt})`;
}

function* descriptionText(description = ''): Generator<string, void, void> {
  if (description === '') return;
  const [first, ...others] = description.split('\n');
  yield `      - Description: ${first}\n`;
  for (const other of others) yield `          ${other}\n`;
}

function* valuesText({ Values = [], ResyncType }: RecordedTxn): Generator<string, void, void> {
  if (ResyncType === 'DownstreamResync') return;
  const isShown = ({ Origin }: RecordedKeyValue): boolean =>
    ResyncType === undefined || Origin !== originNumber['from-SB'];
  yield Values.some(isShown) ? '      - values:\n' : '      - values: NONE\n';
  for (const entry of Values) {
    if (!isShown(entry)) continue;
    yield `          - key: ${entry.Key}\n            value: ${valueText(entry.Value)}\n`;
  }
}

function* operationsText(operations: readonly RecordedTxnOp[] = []): Generator<string, void, void> {
  if (operations.length === 0) yield '      <NONE>\n';
  let number = 0;
  for (const operation of operations) yield operationText(operation, ++number);
}

function operationText(operation: RecordedTxnOp, number: number): string {
  const { Operation, Key, PrevValue, NewValue, PrevErrMsg, NewErrMsg, Reason } = operation;
  const flags = flagsOf(operation);
  const lines = [`key: ${Key}`];
  if (Operation === 'UPDATE') {
    lines.push(`prev-value: ${valueText(PrevValue)}`, `new-value: ${valueText(NewValue)}`);
  } else lines.push(`value: ${valueText(Operation === 'CREATE' ? NewValue : PrevValue)}`);
  if (PrevErrMsg !== undefined) lines.push(`prev-error: ${indented(PrevErrMsg)}`);
  if (NewErrMsg !== undefined) lines.push(`error: ${indented(NewErrMsg)}`);
  lines.push(`reason: ${Reason}`);
  const flagsText = flags.length === 0 ? '' : ` [${flags.join(' ')}]`;
  const head = `      ${number}. ${Operation}${flagsText}:\n`;
  return head + lines.map((text) => `          - ${text}\n`).join('');
}

/** The flags of an operation, with the names of the Go agent. */
export function flagsOf(operation: RecordedTxnOp): string[] {
  const { NewState, PrevState, Operation, IsProperty } = operation;
  const flags: string[] = [];
  const add = (flag: string, when: boolean | undefined): void => {
    if (when) flags.push(flag);
  };
  add('DERIVED', operation.IsDerived && !IsProperty);
  add('PROPERTY', IsProperty);
  add('NOOP', operation.NOOP);
  add('REVERT', operation.IsRevert && !IsProperty);
  add('RETRY', operation.IsRetry && !IsProperty);
  add('RECREATE', operation.IsRecreate);
  add('OBTAINED', NewState === 'OBTAINED');
  add('WAS-OBTAINED', PrevState === 'OBTAINED' && NewState !== 'OBTAINED');
  add('UNIMPLEMENTED', NewState === 'UNIMPLEMENTED');
  add('WAS-UNIMPLEMENTED', PrevState === 'UNIMPLEMENTED' && NewState !== 'UNIMPLEMENTED');
  add('ALREADY-REMOVED', PrevState === 'REMOVED' && Operation === 'DELETE');
  add('ALREADY-MISSING', PrevState === 'MISSING' && NewState === 'REMOVED');
  add('WAS-MISSING', PrevState === 'MISSING' && NewState !== 'REMOVED');
  add('DISCOVERED', PrevState === 'DISCOVERED');
  add('STILL-PENDING', PrevState === 'PENDING' && NewState === 'PENDING');
  add('WAS-PENDING', PrevState === 'PENDING' && NewState !== 'PENDING');
  add('IS-PENDING', PrevState !== 'PENDING' && NewState === 'PENDING');
  add('STILL-FAILING', PrevState === 'FAILED' && NewState === 'FAILED');
  add('FAILED', PrevState !== 'FAILED' && NewState === 'FAILED');
  add('STILL-INVALID', PrevState === 'INVALID' && NewState === 'INVALID');
  add('INVALID', PrevState !== 'INVALID' && NewState === 'INVALID');
  const wasBroken = PrevState === 'FAILED' || PrevState === 'INVALID';
  add('FIXED', wasBroken && NewState === 'CONFIGURED');
  return flags;
}

/** One line in the style of the protobuf text format. */
export function valueText(value: RecordedValue | null | undefined): string {
  return value ? `{ ${fieldsText(value.ProtoMsgData)}}` : '<NIL>';
}

function fieldsText(data: unknown): string {
  if (typeof data !== 'object' || data === null) return `${scalarText(data)} `;
  return Object.entries(data)
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => [name, one]))
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => fieldText(String(name), value))
    .join('');
}

function fieldText(name: string, value: unknown): string {
  if (value instanceof Uint8Array) return `${name}:"${Buffer.from(value).toString('hex')}" `;
  if (typeof value === 'object' && value !== null && 'toJSON' in value)
    return `${name}:${JSON.stringify(value)} `;
  if (typeof value === 'object' && value !== null) return `${name}:<${fieldsText(value)}> `;
  return `${name}:${scalarText(value)} `;
}

function scalarText(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/** Errors may have several lines; the box keeps its shape. */
function indented(text: string): string {
  return text.replaceAll('\n', '\n              ');
}

function tookText({ Start, Stop }: RecordedTxn): string {
  const ms = ((microsOf(Stop) ?? 0) - (microsOf(Start) ?? 0)) / 1000;
  return `${Math.round(Math.max(0, ms) * 10) / 10}ms`;
}
