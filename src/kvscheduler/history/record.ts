/**
 * The record of a transaction as REST shows it. The field names are those of the Go agent, except for
 * `Reason`, which is new. Values are converted to JSON only when the record is serialized, so that a
 * record costs little until a client reads it.
 */

import { errorText } from '#infra/errors/errors.ts';
import type { AnyDescriptor } from '../api/descriptor.ts';
import type { Value } from '../api/transaction.ts';
import type { Operation, ValueState } from '../api/value-state.ts';
import type { PlannedOperation } from '../planner/operation.ts';
import { reasonText } from '../planner/reason.ts';

export type TxnType = 'SBNotification' | 'NBTransaction' | 'RetryFailedOps';

export type ResyncType = 'FullResync' | 'UpstreamResync' | 'DownstreamResync';

/** Numbers of origins in records and dumps. */
export const originNumber = { unknown: 0, 'from-NB': 1, 'from-SB': 2 } as const;

/** A value that is serialized to `{ProtoMsgName, ProtoMsgData}`. */
export class RecordedValue {
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
  get typeName(): string {
    return this.#descriptor?.typeName ?? '';
  }

  /** The JSON form of the value; the error if it cannot be converted. */
  get data(): unknown {
    try {
      return this.#descriptor?.toJson?.(this.#value) ?? this.#value;
    } catch (thrown) {
      return { error: errorText(thrown) };
    }
  }

  toJSON(): unknown {
    return { ProtoMsgName: this.typeName, ProtoMsgData: this.data };
  }
}

export interface RecordedTxnOp {
  readonly Operation: Operation;
  readonly Key: string;
  readonly NewState?: ValueState | undefined;
  readonly NewValue?: RecordedValue | undefined;
  readonly NewErrMsg?: string | undefined;
  readonly PrevState?: ValueState | undefined;
  readonly PrevValue?: RecordedValue | undefined;
  readonly PrevErrMsg?: string | undefined;
  readonly NOOP?: true | undefined;
  readonly IsDerived?: true | undefined;
  readonly IsProperty?: true | undefined;
  readonly IsRevert?: true | undefined;
  readonly IsRetry?: true | undefined;
  readonly IsRecreate?: true | undefined;
  /** The reason of the operation, as text. */
  readonly Reason: string;
}

export interface RecordedKeyValue {
  readonly Key: string;
  /** null: removed. */
  readonly Value: RecordedValue | null;
  /** A number of `originNumber`. */
  readonly Origin: number;
}

export interface RecordedTxn {
  /** True until the transaction has ended: arguments and plan only. */
  PreRecord?: true;
  readonly WithSimulation: true;
  /** RFC 3339 with the precision of the clock; `Stop` is empty while the transaction runs. */
  readonly Start: string;
  Stop: string;
  readonly SeqNum: number;
  readonly TxnType: TxnType;
  readonly ResyncType?: ResyncType;
  readonly Description?: string;
  readonly RetryForTxn?: number;
  readonly RetryAttempt?: number;
  Values?: readonly RecordedKeyValue[];
  Planned?: readonly RecordedTxnOp[];
  Executed?: readonly RecordedTxnOp[];
  /** Descriptors that could not read the southbound, with the reason. */
  RetrieveErrors?: readonly string[];
  /** Differences between the southbound and the configured values afterwards. */
  VerificationErrors?: readonly string[];
  /** The number of values, operations and errors that were omitted to limit the size of the history. */
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
