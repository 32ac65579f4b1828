/**
 * Processing of one event, in the 13 steps of docs/event-loop.md: from the cached state through the
 * handlers and the transaction to the record. `process` contains the steps in their order.
 *
 * This file keeps nothing across a crash: what must survive is in the datastore or in VPP and
 * Linux, where the startup resync reads it.
 */

import type { Random } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { deepFreeze, deepFreezeInSlices } from '#infra/collections/deep-freeze.ts';
import { errorText, traitsOf } from '#infra/errors/errors.ts';
import type { Logger, NamedLogger } from '#infra/log/log.ts';
import { ReentryGuard } from '#infra/process/reentry-guard.ts';
import { AbortEventError, causedError, FatalError } from './api/errors.ts';
import { Direction, type Event, EventMethod, type NonBlockingEvent } from './api/event.ts';
import type { EventHandler, KubeState } from './api/event-handler.ts';
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
import type { HandlerState } from './api/handler-state.ts';
import { Journal } from './api/journal.ts';
import { CachedState, type MergeValues } from './cached-state.ts';
import { Committer, type CommitterDeps } from './committer.ts';
import type { DesiredState } from './desired-state.ts';
import type { EventHistory } from './event-history.ts';
import { EventLog, eventFields } from './event-log.ts';
import type { QueuedEvent } from './event-queue.ts';
import type { EventRecord, ProcessedEvent } from './event-record.ts';
import {
  callHandler,
  type HandlerCallBody,
  type HandlerOutcome,
  withTimeLimit,
} from './handler-call.ts';
import { reverseOrder } from './handler-order.ts';
import {
  addEventError,
  applyHealing,
  fatalAfterHealing,
  healingOfRevert,
  leaveHealingToReconnect,
} from './healing-policy.ts';
import { type InterestedHandler, interestedHandlers } from './interested-handlers.ts';
import { ProcessingState } from './processing-state.ts';
import { type RecordedOperations, Verification } from './verification.ts';

/** Time of one handler, after which the event loop turns before the next one. */
const LONG_MS = 5;

export interface ProcessorDeps extends CommitterDeps {
  /** In the order for a forward event. */
  readonly handlers: readonly EventHandler[];
  readonly desired: DesiredState;
  /** In the order of precedence: the last one wins. The datastore precedes all of them. */
  readonly externalSources?: readonly ExternalConfigSource[];
  readonly merge: MergeValues;
  /**
   * Number of the current connection to VPP; undefined while VPP is not connected. If the connection
   * was lost during an event, the resync after the reconnect heals all errors of the event.
   */
  readonly southboundGeneration: () => number | undefined;
  readonly random: Random;
  readonly log: Logger;
  /** The logger of a handler. */
  readonly handlerLog: (handler: string) => NamedLogger;
  /** Prints the log boxes, at level debug. */
  readonly print: (text: string) => void;
}

/** Result of an event, and what the loop must do after it. */
export interface Outcome extends ProcessedEvent {
  /** The agent must be restarted. */
  readonly fatal: Error | undefined;
  readonly needsHealing: boolean;
  /** An operation failed because the southbound is unavailable. */
  readonly waitsForSouthbound: boolean;
  /** Send a Verification Resync as a follow-up. */
  readonly verify: boolean;
  /** Errors of the event that are not failures of values. */
  readonly eventErrors: readonly Error[];
  /** A resync was committed without an error. */
  readonly committed: boolean;
  /** Of the connection to the southbound when processing began; undefined: it was not connected. */
  readonly generation: number | undefined;
}

export class EventProcessor {
  readonly verification: Verification;
  readonly #deps: ProcessorDeps;
  readonly #cache: CachedState;
  readonly #committer: Committer;
  readonly #history: EventHistory | undefined;
  readonly #log: EventLog;
  /** By handler; from the start, so that an operator can set their levels before the first event. */
  readonly #handlerLogs: ReadonlyMap<string, NamedLogger>;
  readonly #guard = new ReentryGuard();
  readonly #journal = new Journal();
  readonly #followUp: (event: NonBlockingEvent, followUpTo: number) => void;
  #seqNum = 0;
  #resyncCount = 0;
  #isStateLocal = false;
  #isStateNew = false;

  /**
   * @param followUp queues an event that a handler sends while it handles another one
   * @param history undefined: no records are kept
   */
  constructor(
    deps: ProcessorDeps,
    followUp: (event: NonBlockingEvent, followUpTo: number) => void,
    history?: EventHistory,
  ) {
    this.#deps = deps;
    this.#history = history;
    this.#log = new EventLog(deps.log, deps.print);
    this.#handlerLogs = new Map(deps.handlers.map(({ name }) => [name, deps.handlerLog(name)]));
    this.#followUp = followUp;
    const sources = (deps.externalSources ?? []).map((source) => source.label);
    this.#cache = new CachedState([DATASTORE_SOURCE, ...sources], deps.merge, deps.clock, deps.log);
    this.#committer = new Committer(deps, this.#cache);
    deps.desired.external = this.#cache.external;
    deps.desired.handlers = deps.handlers.map(({ name }) => name);
    this.verification = new Verification(deps.clock, deps.log);
  }

  /** After the last event; current at any time, so that work in slices needs a copy. */
  get kubeState(): KubeState {
    return this.#cache.kubeState;
  }

  /** Labels of the sources of external configuration that set the key; the last one wins. */
  sourcesOf(key: string): string[] {
    return this.#cache.sourcesOf(key);
  }

  /** Number of the next event. */
  get seqNum(): number {
    return this.#seqNum;
  }

  /** Number of processed resyncs of any kind. */
  get resyncCount(): number {
    return this.#resyncCount;
  }

  /** Whether the code that asks runs in a handler or source that the current event waits for. */
  get isInsideHandler(): boolean {
    return this.#guard.isInside;
  }

  /** Processes one event. */
  async process(entry: QueuedEvent): Promise<Outcome> {
    const { event } = entry;
    const { clock, southboundGeneration, desired } = this.#deps;
    const began = clock.monotonic();
    const generation = southboundGeneration();
    const txn = desired.begin(event.kind.method(event.payload));
    const processing = new ProcessingState(entry, txn, clock.now(), began);
    if (processing.method !== EventMethod.Update) this.#resyncCount++;
    // Handlers, caches and recordings share the payload.
    await deepFreezeInSlices(event.payload, new Slices(clock));

    // 1. Cached input first, so that handlers see the state after the event: snapshots,
    await this.#applySnapshots(processing);

    // 2. and changes.
    this.#applyChange(event);

    // 3. The order of the handlers.
    const ordered = this.#orderedHandlers(event, processing.method);

    // 4. The handlers that handle it.
    const interested = interestedHandlers(event, ordered);

    // 5. The record; it is added to the history when the outcome is known.
    processing.seqNum = this.#seqNum++;
    processing.description = descriptionOf(event);

    // 6. The first log box, at level debug.
    const names = interested.map(({ handler }) => handler.name);
    this.#log.arrived(processing, names);

    // 7. The handlers, one after the other.
    const saved = this.#saveStates(processing);
    await this.#runHandlers(processing, interested);
    await this.#awaitPending(processing);
    processing.txn.seal();
    if (!processing.stopped) await this.#tell(processing);
    for (const end of saved) end(processing.stopped ? processing.error : undefined);
    if (processing.isResync && !processing.stopped) this.#isStateNew = false;

    if (!processing.stopped) {
      // 8. External configuration is merged over the values of the handlers.
      const request = await this.#committer.merge(processing);

      // 9. One transaction.
      await this.#committer.commit(processing, request);
    }
    desired.end(processing);
    if (VerificationResync.is(event)) this.#verifySouthbound(processing);

    // 10. All or nothing: the state of the handlers and their effects are reverted.
    if (processing.errors.length > 0 && processing.isRevertible && !processing.fatal)
      await this.#revert(processing);
    this.#journal.end();

    if (processing.errors.length > 0 && !this.#sameGeneration(generation))
      leaveHealingToReconnect(processing);

    // 11. The log line, the second log box, the record, the reply to the producer.
    const { error, record } = this.#finalize(processing);

    // 12. A healing resync that fails by a defect of the agent is fatal.
    processing.fatal ??= fatalAfterHealing(processing);

    // 13. The next action: stop, a healing resync, a verification, or none.
    const { fatal, needsHealing, waitsForSouthbound } = processing;
    const verify = this.#shouldVerify(processing);
    const eventErrors = [...processing.eventErrors, ...processing.readErrors];
    const committed = processing.isCommittedResync;
    const next = { needsHealing, waitsForSouthbound, verify, committed, generation };
    return { event, record, error, fatal, eventErrors, ...next };
  }

  async #applySnapshots(processing: ProcessingState): Promise<void> {
    const { event } = processing;
    if (DbResync.is(event)) {
      await this.#cache.replaceKubeState(event.payload.kubeState);
      this.#isStateLocal = event.payload.local;
      this.#isStateNew = true;
      await this.#cache.replaceExternal(DATASTORE_SOURCE, event.payload.externalConfig);
      for (const source of this.#deps.externalSources ?? [])
        await this.#readSource(source, processing);
    } else if (ExternalConfigResync.is(event))
      await this.#cache.replaceExternal(event.payload.source, event.payload.values);
  }

  /** A source that fails or returns an invalid snapshot keeps its last values. */
  async #readSource(source: ExternalConfigSource, processing: ProcessingState): Promise<void> {
    const { label } = source;
    const call = { ...this.#deps, event: processing.event };
    const state = { isOver: false };
    try {
      const reading = this.#guard.run(state, () => source.snapshot());
      const values = await withTimeLimit(label, reading, call);
      await this.#cache.replaceExternal(label, values);
    } catch (error) {
      this.#deps.log.error(
        { err: error, source: label },
        'cannot read the snapshot of external configuration; keeping the last one',
      );
    } finally {
      state.isOver = true;
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
    return isReverse ? reverseOrder(handlers) : handlers;
  }

  async #runHandlers(
    processing: ProcessingState,
    interested: readonly InterestedHandler[],
  ): Promise<void> {
    const verified = VerificationResync.is(processing.event) ? this.verification : undefined;
    verified?.begin();
    const { clock } = this.#deps;
    let began = clock.monotonic();
    for (const { handler, refusal } of interested) {
      // its stretch on the main thread must not add to that of the previous handler
      if (clock.monotonic() - began >= LONG_MS) await clock.turn();
      began = clock.monotonic();
      const before = verified?.internalDataOf(handler);
      const outcome = refusal
        ? this.#refusedCall(handler, processing, refusal, began)
        : await this.#callHandler(handler, processing);
      verified?.compareInternalData(verifiedBy(processing), handler, before);
      const { reply, error } = outcome;
      if (reply !== undefined) processing.replies.push(deepFreeze(reply));
      if (error) addHandlerError(processing, error);
      if (processing.stopped) return;
    }
  }

  /** Also after an error: the handlers are reverted when nothing of them is under way. */
  async #awaitPending(processing: ProcessingState): Promise<void> {
    for (const { record, ended } of processing.pending) {
      const error = await ended;
      if (!error) continue;
      record.error ??= errorText(error);
      addHandlerError(processing, error);
    }
  }

  /** Others learn of a resync that no handler has aborted. */
  async #tell(processing: ProcessingState): Promise<void> {
    for (const { handler, tell } of processing.successes) {
      const { error } = await this.#outcomeOf(handler, processing, tell);
      if (error) addHandlerError(processing, error);
    }
  }

  /** A resync that is aborted restores the states of before. */
  #saveStates({
    isResync,
    isRevertible,
  }: ProcessingState): ReturnType<HandlerState<unknown>['save']>[] {
    if (isRevertible) this.#journal.begin();
    if (!isResync) return [];
    return this.#deps.handlers.flatMap(({ state }) => (state ? [state.save()] : []));
  }

  async #callHandler(handler: EventHandler, processing: ProcessingState): Promise<HandlerOutcome> {
    const { name, state } = handler;
    if (processing.method === EventMethod.Update)
      return this.#call(name, processing, (ctx) => handler.update(ctx, state?.current));
    const { error } = await this.#call(name, processing, async (ctx) => {
      const created = await handler.resync(ctx, state?.known);
      state?.set(created);
    });
    if (!error) return {};
    processing.stopped = true;
    return { error: abortedBy(name, error) };
  }

  /** A resync without the values of the handler would remove them. */
  #refusedCall(
    { name }: EventHandler,
    processing: ProcessingState,
    refusal: Error,
    now: number,
  ): HandlerOutcome {
    const startMs = now - processing.began;
    const call = { handler: name, revert: false, change: '', error: errorText(refusal) };
    processing.records.push({ ...call, startMs, tookMs: 0 });
    if (processing.method === EventMethod.Update) return { error: refusal };
    processing.stopped = true;
    return { error: abortedBy(name, refusal) };
  }

  /** Calls a handler and records the outcome. */
  async #call(
    name: string,
    processing: ProcessingState,
    body: HandlerCallBody,
    isRevert = false,
  ): Promise<HandlerOutcome> {
    const { clock } = this.#deps;
    const start = clock.monotonic();
    const outcome = await this.#outcomeOf(name, processing, body);
    const record = {
      handler: name,
      revert: isRevert,
      change: outcome.change ?? '',
      error: outcome.error && errorText(outcome.error),
      startMs: start - processing.began,
      tookMs: clock.monotonic() - start,
    };
    processing.records.push(record);
    if (outcome.pending) processing.pending.push({ record, ended: outcome.pending });
    return outcome;
  }

  #outcomeOf(
    name: string,
    processing: ProcessingState,
    body: HandlerCallBody,
  ): Promise<HandlerOutcome> {
    const { clock, random, log } = this.#deps;
    const handlerLog = this.#handlerLogs.get(name) as NamedLogger;
    return callHandler(name, body, {
      event: processing.event,
      kubeState: this.#cache.kubeState,
      resyncCount: this.#resyncCount,
      isStateLocal: this.#isStateLocal,
      isStateNew: this.#isStateNew,
      txn: processing.txn,
      replies: processing.replies,
      clock,
      random,
      log,
      get handlerLog() {
        return handlerLog.child(eventFields(processing));
      },
      guard: this.#guard,
      journal: this.#journal,
      onRevert: (undo) => processing.undos.push({ handler: name, undo }),
      onSuccess: (tell) => processing.successes.push({ handler: name, tell }),
      followUp: (event) => this.#followUp(event, processing.seqNum),
    });
  }

  /** Whether the southbound is still connected in the same generation. */
  #sameGeneration(generation: number | undefined): boolean {
    return generation !== undefined && generation === this.#deps.southboundGeneration();
  }

  /** A resync without changes must not execute any operation. */
  #verifySouthbound(processing: ProcessingState): void {
    const { transaction } = processing;
    if (transaction === undefined) return;
    const record = this.#deps.sink.record(transaction) as RecordedOperations | undefined;
    this.verification.checkOperations(verifiedBy(processing), transaction, record ?? {});
  }

  async #revert(processing: ProcessingState): Promise<void> {
    this.#journal.rollBack();
    for (const { handler, undo } of processing.undos.toReversed()) {
      const { error } = await this.#call(handler, processing, undo, true);
      if (!error) continue;
      processing.errors.push(error);
      applyHealing(processing, healingOfRevert(error));
      if (!(error instanceof FatalError)) continue;
      processing.fatal = error;
      return;
    }
  }

  #finalize(processing: ProcessingState): Pick<Outcome, 'record' | 'error'> {
    const { clock } = this.#deps;
    const { entry, event, records, error, seqNum, start, description } = processing;
    const txnError = processing.transactionError && errorText(processing.transactionError);
    const end = start + (clock.monotonic() - processing.began);
    this.#log.ended(processing, end - start);
    const queuedMs = processing.began - entry.pushed;
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
        commitStartMs: processing.commitStartMs,
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

function addHandlerError(processing: ProcessingState, error: Error): void {
  const isFatal = error instanceof FatalError;
  processing.errors.push(error);
  addEventError(processing, error);
  if (isFatal) processing.fatal = error;
  processing.stopped ||= processing.isRevertible || isFatal || error instanceof AbortEventError;
}

/** The error of an aborted resync; those that decide about the healing stay what they are. */
function abortedBy(handler: string, error: Error): Error {
  if (error instanceof FatalError || error instanceof AbortEventError) return error;
  if (traitsOf(error).unavailable === 'southbound') return error;
  return causedError(AbortEventError, `the resync of ${handler} failed`, error);
}

function verifiedBy({ seqNum, entry }: ProcessingState) {
  return { seqNum, followUpTo: entry.followUpTo };
}

/** A kind whose description fails gets a substitute: it is only a text. */
function descriptionOf({ kind, payload }: Event): string {
  try {
    return kind.describe(payload);
  } catch (thrown) {
    return `${kind.id} (no description: ${errorText(thrown)})`;
  }
}
