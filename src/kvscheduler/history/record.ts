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
  readonly NewState?: ValueState;
  readonly NewValue?: RecordedValue;
  readonly NewErrMsg?: string;
  readonly PrevState?: ValueState;
  readonly PrevValue?: RecordedValue;
  readonly PrevErrMsg?: string;
  readonly NOOP?: true;
  readonly IsDerived?: true;
  readonly IsProperty?: true;
  readonly IsRevert?: true;
  readonly IsRetry?: true;
  readonly IsRecreate?: true;
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
  return {
    Operation: operation.operation,
    Key: value.key,
    ...(stateAfter !== 'NONEXISTENT' && { NewState: stateAfter }),
    ...(after !== undefined && { NewValue: new RecordedValue(descriptor, after) }),
    ...(errorAfter && { NewErrMsg: errorAfter.message }),
    ...(stateBefore !== 'NONEXISTENT' && { PrevState: stateBefore }),
    ...(before !== undefined && { PrevValue: new RecordedValue(descriptor, before) }),
    ...(errorBefore && { PrevErrMsg: errorBefore.message }),
    ...(operation.noop && { NOOP: true as const }),
    ...(value.baseKey !== undefined && { IsDerived: true as const }),
    ...(isProperty && { IsProperty: true as const }),
    ...(revert && { IsRevert: true as const }),
    ...(retry && { IsRetry: true as const }),
    ...(operation.recreate && { IsRecreate: true as const }),
    Reason: reasonText(operation.reason),
  };
}

export function recordFailed(
  planned: RecordedTxnOp,
  state: ValueState,
  error: Error,
): RecordedTxnOp {
  return { ...planned, NewState: state, NewErrMsg: error.message };
}
