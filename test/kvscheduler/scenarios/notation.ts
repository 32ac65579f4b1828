/**
 * The notation of the lines that a scenario expects.
 *
 * - value: `[item1 item2]` or `text`; `-` for none
 * - argument: `a/1 [item1] from-NB`
 * - stored value: `[item1] #0`, with ` unmanaged` at the end if it is
 * - operation: `UPDATE a/1: CONFIGURED [item1] > FAILED [item2] !why not! (derived)`; a value
 *   that did not exist has no state before the arrow: `CREATE a/1: CONFIGURED [item1]`
 * - status: `PENDING CREATE [a/1 a/2]`, `FAILED UPDATE !why not!`
 * - flags: `derived 2`, `descriptor one 3`, `value-state PENDING 1`
 */

import type { ValueStatus } from '#kvscheduler/graph/value-status.ts';
import type {
  RecordedKeyValue,
  RecordedTxnOp,
  RecordedValue,
} from '#kvscheduler/history/record.ts';
import { originNumber } from '#kvscheduler/history/record.ts';
import type { MockValue } from './format.ts';

/** A value in the form that the scheduler gets. */
export interface Canonical {
  readonly items?: readonly string[];
  readonly text?: string;
}

export function canonical(value: MockValue): Canonical {
  return typeof value === 'string' ? { text: value } : { items: value };
}

export function valueText(value: object): string {
  const { items, text = '' } = value as Canonical;
  return items ? `[${items.join(' ')}]` : text;
}

export function storedText({
  value,
  number,
  unmanaged,
}: {
  readonly value: Canonical;
  readonly number: number | undefined;
  readonly unmanaged: boolean;
}): string {
  return words(valueText(value), number !== undefined && `#${number}`, unmanaged && 'unmanaged');
}

export function argumentText({ Key, Value, Origin }: RecordedKeyValue): string {
  return `${Key} ${Value ? valueText(Value.value) : '-'} ${originText(Origin)}`;
}

export function originText(number: number): string {
  const origin = Object.entries(originNumber).find(([, known]) => known === number);
  return origin?.[0] ?? String(number);
}

export function operationText(operation: RecordedTxnOp): string {
  const { PrevState, PrevValue, PrevErrMsg, NewState, NewValue, NewErrMsg } = operation;
  const before = sideText(PrevState, PrevValue, PrevErrMsg);
  const after = sideText(NewState, NewValue, NewErrMsg);
  const flags = words(
    operation.NOOP && 'noop',
    operation.IsDerived && (operation.IsProperty ? 'property' : 'derived'),
    operation.IsRecreate && 'recreate',
    operation.IsRevert && 'revert',
    operation.IsRetry && 'retry',
  );
  return words(
    `${operation.Operation} ${operation.Key}:`,
    before && `${before} >`,
    after || 'NONEXISTENT',
    flags && `(${flags})`,
  );
}

function sideText(
  state: string | undefined,
  value: RecordedValue | undefined,
  error: string | undefined,
): string {
  return words(state, value && valueText(value.value), error !== undefined && `!${error}!`);
}

export function statusText({ state, error, last_operation, details }: ValueStatus): string {
  return words(
    state,
    last_operation,
    details && `[${details.join(' ')}]`,
    error !== undefined && `!${error}!`,
  );
}

function words(...parts: (string | false | undefined)[]): string {
  return parts.filter(Boolean).join(' ');
}
