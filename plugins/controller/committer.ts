/** The transaction of an event: merged with external configuration, committed, failures classified. */

import type { Clock } from '#infra/clock/clock.ts';
import { durationMs } from '#infra/config/duration.ts';
import type {
  KeyFailure,
  TransactionMode,
  TransactionRequest,
  TransactionSink,
} from '#kvscheduler/api/transaction.ts';
import { FailedValuesError } from './api/errors.ts';
import { EventMethod } from './api/event.ts';
import { ExternalConfigChange, HealingResync } from './api/events.ts';
import type { CachedState } from './cached-state.ts';
import type { ControllerConfig } from './config.ts';
import { addEventError, applyHealing, healingOf, healingOfRevert } from './healing-policy.ts';
import type { ProcessingState } from './processing-state.ts';

/** Failed values that an error message lists. */
const MAX_NAMED_FAILURES = 10;

export interface CommitterDeps {
  readonly config: ControllerConfig;
  readonly sink: TransactionSink;
  readonly clock: Clock;
}

interface CommitRequest extends Pick<TransactionRequest, 'mode' | 'values'> {
  /** External values that are not part of the transaction, because they could not be merged. */
  readonly unmerged: readonly KeyFailure[];
}

const nothing = { values: new Map(), unmerged: [] };

const modes: Readonly<Record<EventMethod, TransactionMode>> = {
  [EventMethod.FullResync]: 'full-resync',
  [EventMethod.DownstreamResync]: 'downstream-resync',
  [EventMethod.UpstreamResync]: 'upstream-resync',
  [EventMethod.Update]: 'update',
};

export class Committer {
  readonly #deps: CommitterDeps;
  readonly #cache: CachedState;

  constructor(deps: CommitterDeps, cache: CachedState) {
    this.#deps = deps;
    this.#cache = cache;
  }

  /** The changes of an update, all values of a resync, or no values for an un-deploy. */
  async merge({ event, method, txn, isUndeploy }: ProcessingState): Promise<CommitRequest> {
    if (isUndeploy) return { mode: 'full-resync', ...nothing };
    const mode = modes[method];
    if (mode === 'update') {
      const external = ExternalConfigChange.is(event) ? Object.keys(event.payload.values) : [];
      const { values, failures } = this.#cache.mergedUpdate(txn, external);
      return { mode, values, unmerged: failures };
    }
    if (mode === 'downstream-resync') return { mode, ...nothing };
    const { values, failures } = await this.#cache.mergedResync(txn);
    return { mode, values, unmerged: failures };
  }

  /** An update without changes is not committed; a resync always is. */
  async commit(processing: ProcessingState, request: CommitRequest): Promise<void> {
    if (request.mode === 'update' && request.values.size === 0) return;
    const { clock, sink } = this.#deps;
    const start = clock.monotonic();
    processing.commitStartMs = start - processing.began;
    try {
      const { seqNum, failures, trace } = await sink.commit(this.#request(processing, request));
      processing.transaction = seqNum;
      processing.trace = trace;
      // An event that can be undone is not undone for a value that is no part of it, and a resync would
      // not heal it.
      const unmerged = processing.isRevertible ? [] : request.unmerged;
      const all = [...unmerged, ...failures];
      if (all.length > 0) this.#addTransactionError(processing, transactionError(all));
      this.#cache.forgetReleasedKeys(
        request.mode === 'update' ? request.values.keys() : undefined,
        new Set(failures.map(({ key, base = key }) => base)),
      );
      for (const failure of failures) this.#healFailure(processing, failure);
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      this.#addTransactionError(processing, error);
      addEventError(processing, error);
      // A transaction without a result may have left changes, also one that is undone on a failure.
      applyHealing(processing, healingOfRevert(error));
    }
    processing.commitMs = clock.monotonic() - start;
  }

  #addTransactionError(processing: ProcessingState, error: Error): void {
    processing.transactionError = error;
    processing.errors.push(error);
  }

  /**
   * A failed value that only external sources set, or have set, is not healed, and neither is a value
   * derived from it, in any transaction. If a source is merged over a value of the handlers, the cause
   * of the failure is unknown: the value is healed once, and a periodic healing resync is one, too.
   */
  #healFailure(processing: ProcessingState, failure: KeyFailure): void {
    const { key, base = key, error, operation, revert } = failure;
    if (revert) {
      applyHealing(processing, healingOfRevert(error));
      return;
    }
    // A descriptor could not read the southbound, or read something unexpected.
    if (operation === 'UNDEFINED') processing.readErrors.push(error);
    if (this.#cache.isExternalKey(base)) {
      const { groups, changes } = processing.txn;
      const isInternal = groups.value(base) !== undefined || changes.has(base);
      if (!isInternal || HealingResync.is(processing.event)) return;
    }
    applyHealing(processing, healingOf(processing, error));
  }

  #request(
    { event, records, isRevertible, txn }: ProcessingState,
    { mode, values }: CommitRequest,
  ): TransactionRequest {
    const { config } = this.#deps;
    const changes = records
      .filter(({ change }) => change !== '')
      .map(({ handler, change }) => `\n* ${handler}: ${change}`);
    const { unchanged } = txn;
    return {
      description: event.kind.name(event.payload) + changes.join(''),
      mode,
      values,
      onFailure: isRevertible ? 'revert' : 'best-effort',
      ...(isRevertible && txn.optional.size > 0 && { optional: txn.optional }),
      ...(mode === 'update' && unchanged.size > 0 && { reread: unchanged }),
      ...(config.enableRetry && {
        retry: {
          periodMs: durationMs(config.delayRetry),
          maxAttempts: config.maxRetryAttempts,
          exponential: config.enableExpBackoffRetry,
        },
      }),
    };
  }
}

/** The message lists some of the failures; the record of the transaction has all of them. */
function transactionError(failures: readonly KeyFailure[]): Error {
  const texts = failures
    .slice(0, MAX_NAMED_FAILURES)
    .map(({ key, operation, error }) => `${key} (${operation}): ${error.message}`);
  const more = failures.length - texts.length;
  if (more > 0) texts.push(`and ${more} more`);
  return new FailedValuesError(failures, `KeyErrors: [${texts.join(', ')}]`);
}
