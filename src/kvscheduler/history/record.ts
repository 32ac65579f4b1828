/**
 * The record of a transaction in memory. Values are converted to JSON only when the record is serialized, so that a
 * record costs little until a client reads it.
 */

import type {
  RecordedOperation,
  RecordedTarget,
  RecordedTransaction,
} from '#documents/scheduler/transaction-record.ts';
import type { RecordedValue as ValueDocument } from '#documents/scheduler/value.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { AnyDescriptor } from '../api/descriptor.ts';
import type { Value } from '../api/transaction.ts';
import type { ValueState } from '../api/value-state.ts';
import type { PlannedOperation } from '../planner/operation.ts';
import { reasonText } from '../planner/reason.ts';

export type TxnType = RecordedTransaction['TxnType'];

export type ResyncType = NonNullable<RecordedTransaction['ResyncType']>;

/** Numbers of origins in records and dumps. */
export const originNumber = { unknown: 0, 'from-NB': 1, 'from-SB': 2 } as const;

/** A value that is serialized to `{ProtoMsgName, ProtoMsgData}`. */
export class RecordedValue implements ValueDocument {
  readonly #descriptor: AnyDescriptor | undefined;
  readonly #value: Value;

  constructor(descriptor: AnyDescriptor | undefined, value: Value) {
    this.#descriptor = descriptor;
    this.#value = value;
  }

  get value(): Value {
    return this.#value;
  }

  /** Full protobuf name; empty if it is unknown. */
  get ProtoMsgName(): string {
    return this.#descriptor?.typeName ?? '';
  }

  /** The JSON form of the value; the error if it cannot be converted. */
  get ProtoMsgData(): unknown {
    try {
      return this.#descriptor?.toJson?.(this.#value) ?? this.#value;
    } catch (thrown) {
      return { error: errorText(thrown) };
    }
  }

  toJSON(): ValueDocument {
    return { ProtoMsgName: this.ProtoMsgName, ProtoMsgData: this.ProtoMsgData };
  }
}

export interface RecordedTxnOp extends RecordedOperation {
  readonly NewValue?: RecordedValue | undefined;
  readonly PrevValue?: RecordedValue | undefined;
}

export interface RecordedKeyValue extends RecordedTarget {
  readonly Value: RecordedValue | null;
}

/** It is filled while the transaction runs. */
export interface RecordedTxn extends RecordedTransaction {
  PreRecord?: true;
  Stop: string;
  Values?: readonly RecordedKeyValue[];
  Planned?: readonly RecordedTxnOp[];
  Executed?: readonly RecordedTxnOp[];
  RetrieveErrors?: readonly string[];
  VerificationErrors?: readonly string[];
  Omitted?: number;
}

export interface OperationFlags {
  readonly revert: boolean;
  readonly retry: boolean;
}

export function recordPlanned(
  operation: PlannedOperation,
  { revert, retry }: OperationFlags,
): RecordedTxnOp {
  const { value, before, after, stateBefore, stateAfter, errorBefore, errorAfter } = operation;
  const { descriptor } = value;
  const isProperty = descriptor === undefined && value.baseKey !== undefined;
  // Fields that are undefined are not serialized. All records have the same shape: they are many.
  return {
    Operation: operation.operation,
    Key: value.key,
    NewState: stateAfter === 'NONEXISTENT' ? undefined : stateAfter,
    NewValue: after && new RecordedValue(descriptor, after),
    NewErrMsg: errorAfter?.message,
    PrevState: stateBefore === 'NONEXISTENT' ? undefined : stateBefore,
    PrevValue: before && new RecordedValue(descriptor, before),
    PrevErrMsg: errorBefore?.message,
    NOOP: operation.noop || undefined,
    IsDerived: value.baseKey !== undefined || undefined,
    IsProperty: isProperty || undefined,
    IsRevert: revert || undefined,
    IsRetry: retry || undefined,
    IsRecreate: operation.recreate || undefined,
    Reason: reasonText(operation.reason),
  };
}

export function recordFailed(
  planned: RecordedTxnOp,
  state: ValueState,
  error: Error,
): RecordedTxnOp {
  const { NewErrMsg, ...others } = planned;
  // The error is the last field of the JSON, unless the plan has one.
  const before = NewErrMsg === undefined ? others : planned;
  return { ...before, NewState: state, NewErrMsg: error.message };
}
