/** Documents of the view; docs/rest.md describes them. */

/** One of `GET /scheduler/transactions`. */
export interface TransactionSummary {
  readonly SeqNum: number;
  /** RFC 3339. */
  readonly Start: string;
  readonly Stop: string;
  readonly TookMs: number;
  readonly TxnType: string;
  readonly ResyncType: string | null;
  readonly Description: string;
  readonly RetryForTxn: number | null;
  readonly RetryAttempt: number | null;
  readonly Values: number;
  readonly Planned: number;
  readonly Executed: number;
  readonly Failed: number;
  readonly NotExecuted: number;
  readonly NotPlanned: number;
  readonly Reverted: number;
  readonly Errors: number;
  readonly Omitted: number;
}

export interface TransactionList {
  readonly Transactions: readonly TransactionSummary[];
  /** Argument for the next part. */
  readonly Before: number | null;
}

export interface RecordedValue {
  readonly ProtoMsgName: string;
  readonly ProtoMsgData: unknown;
}

/** An operation that was planned, executed, or both. */
export interface TransactionOperation {
  readonly Index: number;
  readonly ExecutedAt: number | null;
  readonly IsPlanned: boolean;
  readonly PlannedState: string | null;
  readonly Operation: string;
  readonly Key: string;
  readonly Reason: string;
  readonly PrevState: string;
  readonly NewState: string;
  readonly PrevErrMsg?: string;
  readonly NewErrMsg?: string;
  readonly NOOP?: boolean;
  readonly IsDerived?: boolean;
  readonly IsProperty?: boolean;
  readonly IsRevert?: boolean;
  readonly IsRetry?: boolean;
  readonly IsRecreate?: boolean;
  readonly PrevValue?: RecordedValue | null;
  readonly NewValue?: RecordedValue | null;
}

/** `GET /scheduler/transaction`. */
export interface TransactionDetail extends TransactionSummary {
  readonly RetrieveErrors: readonly string[];
  readonly VerificationErrors: readonly string[];
  readonly Matching: number;
  readonly Operations: readonly TransactionOperation[];
}
