/**
 * The way of one event, in the 13 steps of docs/event-loop.md: from the caches through the handlers
 * and the transaction to the record. `process` reads from top to bottom.
 *
 * After a crash nothing of this file is left: what must survive is in the datastore or in VPP and
 * Linux, and the startup resync finds it there.
 */

import type { Random } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { AbortEventError, FatalError } from './api/errors.ts';
import { Direction, type Event, EventMethod, type NonBlockingEvent } from './api/event.ts';
import type { EventHandler } from './api/event-handler.ts';
import {
  DATASTORE_SOURCE,
  DbResync,
  ExternalConfigChange,
  ExternalConfigResync,
  type ExternalConfigSource,
  KubeStateChange,
  Shutdown,
  VerificationResync,
} from './api/events.ts';
import { arrivalBanner, outcomeBanner } from './banner.ts';
import { CachedState, type MergeValues } from './cached-state.ts';
import { Committer, type CommitterDeps } from './committer.ts';
import type { EventHistory } from './event-history.ts';
import type { QueuedEvent } from './event-queue.ts';
import type { EventRecord, ProcessedEvent } from './event-record.ts';
import { callHandler, type HandlerOutcome, withTimeLimit } from './handler-call.ts';
import {
  applyHealing,
  fatalAfterHealing,
  healingOf,
  healingOfRevert,
  leaveHealingToReconnect,
} from './healing-policy.ts';
import { ProcessingState } from './processing-state.ts';
import { type RecordedOperations, Verification } from './verification.ts';

export interface ProcessorDeps extends CommitterDeps {
  /** In the order in which they see a forward event. */
  readonly handlers: readonly EventHandler[];
  /** In the order of precedence: the last one wins. The datastore stands before all of them. */
  readonly externalSources?: readonly ExternalConfigSource[];
  readonly merge: MergeValues;
  /**
   * Number of the southbound's present life, undefined while it is away. When a life has ended
   * during an event, whatever failed in it is healed by the resync that the next one begins with.
   */
  readonly southboundGeneration: () => number | undefined;
  readonly random: Random;
  readonly log: Logger;
  /** Where the log boxes go. */
  readonly print: (text: string) => void;
}

/** What the loop has to do after an event. */
export interface Outcome extends ProcessedEvent {
  /** The agent is lost. */
  readonly fatal: Error | undefined;
  readonly needsHealing: boolean;
  /** Something could not be done because what it stands on is away. */
  readonly waitsForSouthbound: boolean;
  /** Send a Verification Resync as a follow-up. */
  readonly verify: boolean;
}

export class EventProcessor {
  readonly verification: Verification;
  readonly #deps: ProcessorDeps;
  readonly #cache: CachedState;
  readonly #committer: Committer;
  readonly #history: EventHistory | undefined;
  readonly #followUp: (event: NonBlockingEvent, followUpTo: number) => void;
  #seqNum = 0;
  #resyncCount = 0;
  #current: ProcessingState | undefined;

  /**
   * @param followUp queues an event that a handler sends while it handles another
   * @param history undefined: no records are kept
   */
  constructor(
    deps: ProcessorDeps,
    followUp: (event: NonBlockingEvent, followUpTo: number) => void,
    history?: EventHistory,
  ) {
    this.#deps = deps;
    this.#history = history;
    this.#followUp = followUp;
    const sources = (deps.externalSources ?? []).map((source) => source.label);
    this.#cache = new CachedState([DATASTORE_SOURCE, ...sources], deps.merge, deps.clock, deps.log);
    this.#committer = new Committer(deps, this.#cache);
    this.verification = new Verification(deps.clock, deps.log);
  }

  /** Number of the next event. */
  get seqNum(): number {
    return this.#seqNum;
  }

  /** How many resyncs of any kind have been processed. */
  get resyncCount(): number {
    return this.#resyncCount;
  }

  /** The value of a key in the current transaction, else the last internal one; a copy. */
  getConfig(key: string): Value | undefined {
    const values = this.#current?.txn.values;
    const value = values?.has(key) ? values.get(key) : this.#cache.internalValue(key);
    return value ? structuredClone(value) : undefined;
  }

  /** The way of one event. */
  async process(entry: QueuedEvent): Promise<Outcome> {
    const { event } = entry;
    const { clock, southboundGeneration: southboundLife } = this.#deps;
    const began = clock.monotonic();
    const life = southboundLife();
    const processing = new ProcessingState(entry, clock.now());
    if (processing.method !== EventMethod.Update) this.#resyncCount++;

    // 1. The caches of the input first, so that handlers see the state after the event: snapshots,
    await this.#applySnapshots(processing);

    // 2. and changes.
    this.#applyChange(event);

    // 3. In which order the handlers see it.
    const ordered = this.#orderedHandlers(event, processing.method);

    // 4. Who of them handles it.
    const handlers = this.#interestedHandlers(event, ordered);

    // 5. The record; it enters the history when the outcome is known.
    processing.seqNum = this.#seqNum++;
    processing.description = descriptionOf(event);
    this.#current = processing;

    // 6. The first log box.
    this.#printArrival(processing, handlers);

    // 7. The handlers, one after the other.
    await this.#runHandlers(processing, handlers);
    processing.txn.seal();

    if (!processing.stopped) {
      // 8. What comes from outside is laid over what the handlers want.
      const wish = await this.#committer.merge(processing);

      // 9. One transaction.
      await this.#committer.commit(processing, wish);
    }
    if (VerificationResync.is(event)) this.#verifySouthbound(processing);

    // 10. All or nothing: internal changes are undone in the reverse order of what was done.
    if (processing.errors.length > 0 && processing.isRevertible && !processing.fatal)
      await this.#revert(processing);

    if (processing.errors.length > 0 && !this.#sameGeneration(life))
      leaveHealingToReconnect(processing);

    // 11. The second log box, the record, the answer to the producer.
    const { error, record } = this.#finalize(processing, began);
    this.#current = undefined;

    // 12. A healing resync that fails is fatal.
    processing.fatal ??= fatalAfterHealing(processing);

    // 13. What comes next: the end, a healing resync, a verification, or nothing.
    const { fatal, needsHealing, waitsForSouthbound } = processing;
    const verify = this.#shouldVerify(processing);
    return { event, record, error, fatal, needsHealing, waitsForSouthbound, verify };
  }

  async #applySnapshots(processing: ProcessingState): Promise<void> {
    const { event } = processing;
    if (DbResync.is(event)) {
      await this.#cache.replaceKubeState(event.payload.kubeState);
      await this.#cache.replaceExternal(DATASTORE_SOURCE, event.payload.externalConfig);
      for (const source of this.#deps.externalSources ?? [])
        await this.#readSource(source, processing);
    } else if (ExternalConfigResync.is(event))
      await this.#cache.replaceExternal(event.payload.source, event.payload.values);
  }

  /** One that cannot answer, or makes no sense, keeps what it wanted last. */
  async #readSource(source: ExternalConfigSource, processing: ProcessingState): Promise<void> {
    const { label } = source;
    const call = { ...this.#deps, event: processing.event };
    try {
      const values = await withTimeLimit(label, source.snapshot(), call);
      await this.#cache.replaceExternal(label, values);
    } catch (error) {
      this.#deps.log.error(
        { err: error, source: label },
        'no snapshot of external configuration; the last one stays in force',
      );
    }
  }

  #applyChange(event: Event): void {
    if (KubeStateChange.is(event)) this.#cache.changeKubeState(event.payload);
    else if (ExternalConfigChange.is(event)) this.#cache.changeExternal(event.payload);
  }

  #orderedHandlers(event: Event, method: EventMethod): readonly EventHandler[] {
    const { handlers } = this.#deps;
    if (method === EventMethod.DownstreamResync) return [];
    if (method !== EventMethod.Update) return handlers;
    const isReverse = event.kind.direction(event.payload) === Direction.Reverse;
    return isReverse ? handlers.toReversed() : handlers;
  }

  #interestedHandlers(event: Event, handlers: readonly EventHandler[]): EventHandler[] {
    return handlers.filter((handler) => {
      try {
        return handler.handlesEvent(event);
      } catch (cause) {
        // Who knows what it would have done: the state of the agent is not to be trusted.
        throw new FatalError(`handlesEvent failed: ${errorText(cause)}`, {
          where: handler.name,
          cause,
        });
      }
    });
  }

  #printArrival(
    { entry, seqNum, description }: ProcessingState,
    handlers: readonly EventHandler[],
  ): void {
    const names = handlers.map((handler) => handler.name);
    const { followUpTo } = entry;
    this.#deps.print(arrivalBanner({ seqNum, followUpTo, description, handlers: names }));
  }

  async #runHandlers(
    processing: ProcessingState,
    handlers: readonly EventHandler[],
  ): Promise<void> {
    const verified = VerificationResync.is(processing.event) ? this.verification : undefined;
    verified?.begin();
    for (const handler of handlers) {
      const before = verified?.internalDataOf(handler);
      const outcome = await this.#callHandler(handler, processing.method, processing);
      verified?.compareInternalData(verifiedBy(processing), handler, before);
      const { reply, error } = outcome;
      if (reply !== undefined) processing.replies.push(reply);
      if (!error) {
        processing.completed.push(handler);
        continue;
      }
      processing.errors.push(error);
      applyHealing(processing, healingOf(processing, error));
      if (error instanceof FatalError) processing.fatal = error;
      processing.stopped =
        processing.isRevertible || error instanceof FatalError || error instanceof AbortEventError;
      if (processing.stopped) return;
      processing.completed.push(handler);
    }
  }

  /** Calls a handler and records what it did. */
  async #callHandler(
    handler: EventHandler,
    what: EventMethod | 'revert',
    processing: ProcessingState,
  ): Promise<HandlerOutcome> {
    const { clock, random, log } = this.#deps;
    const start = clock.monotonic();
    const outcome = await callHandler(handler, what, {
      event: processing.event,
      kubeState: this.#cache.kubeState,
      resyncCount: this.#resyncCount,
      txn: processing.txn,
      replies: processing.replies,
      clock,
      random,
      log,
      followUp: (event) => this.#followUp(event, processing.seqNum),
    });
    processing.records.push({
      handler: handler.name,
      revert: what === 'revert',
      change: outcome.change ?? '',
      error: outcome.error && errorText(outcome.error),
      tookMs: clock.monotonic() - start,
    });
    return outcome;
  }

  /** Whether that life of the southbound has lasted until now. */
  #sameGeneration(life: number | undefined): boolean {
    return life !== undefined && life === this.#deps.southboundGeneration();
  }

  /** A resync in which nothing has changed has nothing to do. */
  #verifySouthbound(processing: ProcessingState): void {
    const { transaction } = processing;
    if (transaction === undefined) return;
    const record = this.#deps.sink.record(transaction) as RecordedOperations | undefined;
    this.verification.checkOperations(verifiedBy(processing), transaction, record ?? {});
  }

  async #revert(processing: ProcessingState): Promise<void> {
    for (const handler of processing.completed.toReversed()) {
      const { error } = await this.#callHandler(handler, 'revert', processing);
      if (!error) continue;
      processing.errors.push(error);
      applyHealing(processing, healingOfRevert(error));
      if (!(error instanceof FatalError)) continue;
      processing.fatal = error;
      return;
    }
  }

  #finalize(processing: ProcessingState, began: number): Pick<Outcome, 'record' | 'error'> {
    const { clock, print } = this.#deps;
    const { entry, event, records, error, seqNum, start, description } = processing;
    const txnError = processing.transactionError && errorText(processing.transactionError);
    const end = clock.now();
    print(
      outcomeBanner({
        seqNum,
        description,
        handledBy: records.filter((record) => !record.revert).map((record) => record.handler),
        revertedBy: records.filter((record) => record.revert).map((record) => record.handler),
        errors: records
          .filter((record) => record.error !== undefined)
          .map((record) => `${record.handler}${record.revert ? ' (REVERT)' : ''}: ${record.error}`),
        transactionError: txnError,
        hasTransaction: processing.transaction !== undefined,
        tookMs: end - start,
      }),
    );
    const queuedMs = began - entry.pushed;
    const heard = event.origin?.heard;
    const record: EventRecord = {
      seqNum,
      start,
      end,
      followUpTo: entry.followUpTo,
      id: event.kind.id,
      name: event.kind.name(event.payload),
      method: processing.method,
      description,
      handlers: records,
      transactionError: txnError,
      transaction: processing.transaction,
      trace: {
        origin: event.origin,
        queuedMs,
        totalMs: heard === undefined ? queuedMs + end - start : end - heard,
        commitMs: processing.commitMs,
        transaction: processing.trace,
      },
    };
    this.#history?.add(record);
    if (error) entry.producer?.reject(error);
    else entry.producer?.resolve(processing.replies);
    return { record, error };
  }

  #shouldVerify({ event, needsHealing, waitsForSouthbound, fatal }: ProcessingState): boolean {
    if (!this.#deps.config.enableVerification) return false;
    if (needsHealing || waitsForSouthbound || fatal) return false;
    return !VerificationResync.is(event) && !Shutdown.is(event);
  }
}

function verifiedBy({ seqNum, entry }: ProcessingState) {
  return { seqNum, followUpTo: entry.followUpTo };
}

/** Only a text is at stake. */
function descriptionOf({ kind, payload }: Event): string {
  try {
    return kind.describe(payload);
  } catch (thrown) {
    return `${kind.id} (no description: ${errorText(thrown)})`;
  }
}
