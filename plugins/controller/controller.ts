/**
 * The event loop: everything that changes the state of the agent is an event, and one event is
 * processed at a time. This file is the loop around `event-processor.ts`: it selects the next event,
 * acts on the outcome (healing, verification, shutdown), and owns the timers.
 */

import type { Timer } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { durationMs } from '#infra/config/duration.ts';
import { type CodedError, errorText, traitsOf } from '#infra/errors/errors.ts';
import {
  EventAbandonedError,
  EventLoopDeadlockError,
  FatalError,
  NotConfiguredError,
} from './api/errors.ts';
import { type Event, EventMethod, type EventOrigin } from './api/event.ts';
import type { EventLoop, KubeState } from './api/event-handler.ts';
import {
  DbResync,
  HealingResync,
  isReplacedByDbResync,
  Shutdown,
  VerificationResync,
} from './api/events.ts';
import { EventHistory } from './event-history.ts';
import { EventProcessor, type Outcome, type ProcessorDeps } from './event-processor.ts';
import { EventQueue, type QueuedEvent } from './event-queue.ts';
import type { ProcessedEvent } from './event-record.ts';
import { HealingDelay } from './healing-delay.ts';
import { isHealing } from './healing-policy.ts';
import { problemText } from './problems.ts';
import { ResyncGate } from './resync-gate.ts';
import type { Verification } from './verification.ts';

/** State of the controller for the status check. */
export type ControllerState = 'init' | 'ok' | 'error';

export interface ControllerDeps extends ProcessorDeps {
  readonly reportState: (state: ControllerState, error?: Error) => void;
  /** Called after every event, for metrics and recording. */
  readonly onProcessed?: (processed: ProcessedEvent) => void;
  readonly observer?: EventObserver | undefined;
  /** Whether the first resync waits for the operator, or its content is being read: the deadline of the startup is suspended. */
  readonly isStartDelayed?: () => boolean;
}

/** Called before and after each event; used by recordings. */
export interface EventObserver {
  eventStarted(seqNum: number, entry: QueuedEvent): Promise<void>;
  eventEnded(outcome: Outcome): Promise<void>;
}

const MIB = 1024 * 1024;
const MINUTE = 60_000;

export class Controller implements EventLoop {
  readonly history: EventHistory;
  readonly #deps: ControllerDeps;
  readonly #processor: EventProcessor;
  readonly #queue = new EventQueue();
  readonly #timers = new Set<Timer>();
  /** The event that is being processed. */
  #current: QueuedEvent | undefined;
  readonly #gate = new ResyncGate();
  readonly #healingDelay: HealingDelay;
  /** Errors of the last resync, without failures of values; empty if there were none. */
  #resyncErrors: readonly Error[] = [];
  /** Why the last resync that called the handlers was not committed; undefined: it was. */
  #uncommitted: Error | undefined;
  #unapplied: Error | undefined;
  #aborting = false;
  #closed = false;
  /** The healing resync that is scheduled and has not started yet. */
  #scheduledHealing: { readonly due: number; readonly timer: Timer } | undefined;
  #periodicHealingQueued = false;
  #running: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(deps: ControllerDeps) {
    this.#deps = deps;
    const { config, clock } = deps;
    this.#healingDelay = new HealingDelay(durationMs(config.delayAfterErrorHealing));
    this.history = new EventHistory(
      {
        ageMs: config.eventHistoryAgeLimit * MINUTE,
        permanentMs: config.permanentlyRecordedInitPeriod * MINUTE,
        bytes: config.eventHistorySizeLimit * MIB,
        isOff: !config.recordEventHistory,
      },
      clock,
      deps.log,
    );
    this.#processor = new EventProcessor(
      deps,
      (event, followUpTo) => this.#followUp(event as Event, followUpTo),
      this.history,
    );
  }

  /** Number of queued events. */
  get queueLength(): number {
    return this.#queue.length;
  }

  /** Resolves when fewer events than this are queued, or none is accepted any more: for producers of many. */
  whenShorterThan(length: number): Promise<void> {
    return this.#queue.whenShorterThan(length);
  }

  /** No event is being processed or queued. */
  get isIdle(): boolean {
    return this.#current === undefined && this.#queue.length === 0;
  }

  /** State of Kubernetes after the last event; current at any time, so that work in slices needs a copy. */
  get kubeState(): KubeState {
    return this.#processor.kubeState;
  }

  /**
   * The owners of the desired value of a key: groups of values of the handlers, as `ipv4net/base`, then sources of
   * external configuration, as `external/db`. The value of the last group applies, and the sources are merged over it.
   */
  ownersOf(key: string): readonly string[] {
    const sources = this.#processor.sourcesOf(key).map((label) => `external/${label}`);
    return [...this.#deps.desired.owners(key), ...sources];
  }

  /** Number of started events, which is the sequence number of the next one. */
  get eventCount(): number {
    return this.#processor.seqNum;
  }

  /** Number of processed resyncs of any kind. */
  get resyncCount(): number {
    return this.#processor.resyncCount;
  }

  /** Whether VPP is connected, a resync has configured it since, and events are processed. */
  get isSynced(): boolean {
    const generation = this.#deps.southboundGeneration();
    return generation !== undefined && this.#gate.isOpen(generation) && !this.#aborting;
  }

  /** Why the handlers may not have applied `kubeState`: of an event that a resync has to heal, or of the last resync. */
  get unapplied(): Error | undefined {
    return this.#unapplied;
  }

  /**
   * Problems of the configuration: the errors of the last resync, and the problems of the handlers.
   * @param generation of the connection to VPP; undefined: it is not connected
   */
  problems(generation: number | undefined): string[] {
    const waiting = this.#gate.hasBeenOpen && !this.#gate.isOpen(generation);
    return [
      ...(waiting
        ? ['VPP is connected again, and the resync that configures it has not ended']
        : []),
      ...[...this.#resyncErrors, ...this.#handlerProblems()].map(problemText),
    ];
  }

  #handlerProblems(): CodedError[] {
    return this.#deps.handlers.flatMap((handler) => handler.problems?.() ?? []);
  }

  /** Results of verification mode. */
  get verification(): Verification {
    return this.#processor.verification;
  }

  /** Starts the loop. Only a Shutdown can run before the first Database Resync: see `ResyncGate`. */
  start(): void {
    const { config, reportState } = this.#deps;
    reportState('init');
    this.#running = this.#run();
    this.#superviseStartup(durationMs(config.startupResyncDeadline), false);
    if (config.recordEventHistory) this.#every(MINUTE, () => this.history.trim());
  }

  /** @param wasDelayed at the last check; the deadline begins when the delay has ended */
  #superviseStartup(deadline: number, wasDelayed: boolean): void {
    this.#after(deadline, () => {
      if (this.resyncCount > 0 || this.#aborting) return;
      const isDelayed = this.#deps.isStartDelayed?.() ?? false;
      if (isDelayed || wasDelayed) {
        this.#superviseStartup(deadline, isDelayed);
        return;
      }
      const seconds = deadline / 1000;
      this.#abort(
        new FatalError(`startup resync has not executed within the first ${seconds} seconds`),
      );
    });
  }

  push(event: Event): void {
    this.#enqueue(event, undefined);
  }

  pushAndWait<P, R>(event: Event<P, R>, signal?: AbortSignal): Promise<R[]> {
    this.#ensureOutside(event.kind.name(event.payload));
    const abandoned = () => new EventAbandonedError('the caller has disconnected');
    return new Promise((resolve, reject) => {
      if (signal?.aborted) throw abandoned();
      const producer = { resolve: resolve as (replies: unknown[]) => void, reject };
      this.#enqueue(event as Event, producer);
      // Abandoned events must not fill the queue while it waits for a resync.
      const abandon = () => this.#queue.reject((queued) => queued === event, abandoned());
      signal?.addEventListener('abort', abandon, { once: true });
      // Not during an event: its outcome may configure VPP.
      if (!this.#current) this.#rejectBlocked();
    });
  }

  /** A handler that waits for the loop waits for itself: neither would ever end. */
  #ensureOutside(where: string): void {
    if (this.#processor.isInsideHandler)
      throw new EventLoopDeadlockError('a handler cannot wait for another event', { where });
  }

  #enqueue(event: Event, producer: QueuedEvent['producer']): void {
    if (DbResync.is(event)) this.#queue.drop(isReplacedByDbResync);
    // Updates may have filled the queue, and all of them wait for a resync. Few of these can be queued: two
    // that heal, and one of the database.
    const isResync = DbResync.is(event) || HealingResync.is(event);
    const pushed = this.#deps.clock.monotonic();
    this.#queue.add({ event, followUpTo: undefined, pushed, producer }, isResync);
  }

  /**
   * Schedules a healing resync as after a failed event. Several requests before it runs are one
   * resync, at the earliest of their times.
   * @param delayMs default: `delayAfterErrorHealing`
   */
  scheduleHealing(reason: string, delayMs = this.#healingDelay.first): void {
    if (this.#aborting || this.#closing) return;
    const due = this.#deps.clock.monotonic() + delayMs;
    if (this.#scheduledHealing && this.#scheduledHealing.due <= due) return;
    if (this.#scheduledHealing) this.#cancel(this.#scheduledHealing.timer);
    const timer = this.#after(delayMs, () => {
      if (!this.#closing) this.push(HealingResync.event({ type: 'after-error', error: reason }));
    });
    this.#scheduledHealing = { due, timer };
  }

  /** VPP may have lost its configuration: a healing resync follows at once. */
  southboundReconnected(): void {
    this.scheduleHealing('VPP reconnected', 0);
  }

  /** A part of the southbound has to be created again: a healing resync follows at once. */
  southboundBroken(what: string): void {
    this.scheduleHealing(what, 0);
  }

  /** Waits for the current event, runs a Shutdown, and rejects all other events. */
  close(options: { readonly cleanup: boolean }): Promise<void> {
    this.#ensureOutside('Shutdown');
    this.#closing ??= this.#close(options);
    return this.#closing;
  }

  async #close(options: { readonly cleanup: boolean }): Promise<void> {
    try {
      if (!this.#aborting)
        await new Promise((resolve, reject) => {
          const event = Shutdown.event(options) as Event;
          const producer = { resolve, reject };
          const pushed = this.#deps.clock.monotonic();
          this.#queue.closeWith({ event, followUpTo: undefined, pushed, producer });
        });
    } finally {
      this.#end();
      await this.#running;
    }
  }

  async #run(): Promise<void> {
    // Many small events must not delay sockets and timers until the last of them is processed.
    const slices = new Slices(this.#deps.clock);
    while (!this.#closed && !this.#aborting) {
      if (slices.due()) {
        await slices.turn();
        continue;
      }
      const generation = this.#deps.southboundGeneration();
      const entry = this.#queue.take((event) => this.#gate.permits(event, generation));
      if (!entry) await this.#queue.wait();
      else await this.#runEvent(entry);
    }
  }

  async #runEvent(entry: QueuedEvent): Promise<void> {
    const { event } = entry;
    // A failure during the healing resync must be able to schedule the next one.
    if (isHealing(event)) this.#scheduledHealing = undefined;
    else if (HealingResync.is(event)) this.#periodicHealingQueued = false;
    // Follow-ups wait while VPP is not configured: by now their changes are of an older state.
    if (DbResync.is(event)) this.#queue.dropFollowUps(isUpdate);
    const isStartup = this.resyncCount === 0 && DbResync.is(event);
    this.#current = entry;
    try {
      await this.#deps.observer?.eventStarted(this.eventCount, entry);
      const outcome = await this.#processor.process(entry);
      await this.#deps.observer?.eventEnded(outcome);
      this.#deps.onProcessed?.(outcome);
      if (isStartup) this.#startPeriodicHealing();
      this.#followOutcome(event, outcome);
    } catch (thrown) {
      // Errors of handlers and of the transaction do not get here: this is a defect of the agent.
      const where = event.kind.name(event.payload);
      const lost = new FatalError(errorText(thrown), { where, cause: thrown });
      entry.producer?.reject(lost);
      this.#abort(lost);
    } finally {
      this.#current = undefined;
    }
  }

  #followOutcome(event: Event, outcome: Outcome): void {
    const { record, fatal, verify } = outcome;
    this.#gate.processed(event, outcome.committed, outcome.generation);
    if (fatal) this.#abort(fatal);
    else {
      const method = event.kind.method(event.payload);
      const isResync = method !== EventMethod.Update;
      // A DownstreamResync calls no handler: it says nothing about their errors.
      const hasCalledAll = isResync && method !== EventMethod.DownstreamResync;
      if (isResync && this.#gate.hasBeenOpen) this.#deps.reportState('ok');
      if (hasCalledAll) {
        this.#resyncErrors = outcome.eventErrors;
        this.#uncommitted = outcome.committed ? undefined : outcome.error;
        this.#unapplied = this.#uncommitted;
      } else if (outcome.needsHealing) this.#unapplied ??= outcome.eventErrors[0];
      this.#heal(hasCalledAll, outcome);
      this.#rejectBlocked();
    }
    if (verify) this.#verify(record.seqNum);
    if (Shutdown.is(event)) this.#end();
  }

  /**
   * A healing resync that fails, or leaves a problem that a retry may solve, is repeated. Such a problem may appear in
   * an update, too.
   */
  #heal(hasCalledAll: boolean, { event, error, needsHealing, waitsForSouthbound }: Outcome): void {
    if (needsHealing) {
      // A periodic one that fails for the same cause must not bring the next attempt forward.
      const isPeriodic = HealingResync.is(event) && !isHealing(event);
      if (isPeriodic && this.#scheduledHealing) return;
      const delay = isHealing(event) ? this.#healingDelay.next() : this.#healingDelay.first;
      this.scheduleHealing(errorText(error), delay);
      return;
    }
    if (waitsForSouthbound || (!hasCalledAll && this.#scheduledHealing)) return;
    const open = this.#handlerProblems().find((one) => traitsOf(one).isRetriable !== false);
    if (open) {
      const delay = hasCalledAll ? this.#healingDelay.next() : this.#healingDelay.first;
      this.scheduleHealing(errorText(open), delay);
    } else if (hasCalledAll) this.#healingDelay.reset();
  }

  /**
   * While VPP is not configured because a resync has failed, producers do not wait for the next one:
   * they are rejected, and try again.
   */
  #rejectBlocked(): void {
    const error = this.#uncommitted;
    const generation = this.#deps.southboundGeneration();
    if (!error || this.#gate.isOpen(generation)) return;
    const reason = `VPP is not configured, because the last resync failed: ${errorText(error)}`;
    this.#queue.reject(
      (event) => !this.#gate.permits(event, generation),
      new NotConfiguredError(reason, { cause: error }),
    );
  }

  #verify(followUpTo: number): void {
    try {
      this.#followUp(VerificationResync.event({}) as Event, followUpTo);
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'verification resync could not be queued');
    }
  }

  /** During shutdown follow-ups are discarded: the next start resyncs everything. */
  #followUp(event: Event, followUpTo: number): void {
    if (event.kind.blocking === true) {
      const where = event.kind.name(event.payload);
      throw new TypeError(
        `${where} is a blocking event and cannot be a follow-up: the event loop would wait for itself`,
      );
    }
    if (this.#closing) return;
    const pushed = this.#deps.clock.monotonic();
    const origin = event.origin ?? this.#inheritedOrigin();
    this.#queue.add({
      event: origin ? { ...event, origin } : event,
      followUpTo,
      pushed,
      producer: undefined,
    });
  }

  /** External cause of the event that is being processed, and when it was received. */
  #inheritedOrigin(): EventOrigin | undefined {
    const { event, pushed } = this.#current ?? {};
    if (!event?.origin || pushed === undefined) return undefined;
    const { clock } = this.#deps;
    return { heard: clock.now() - (clock.monotonic() - pushed), ...event.origin };
  }

  /** Fatal: the agent reports the error state and rejects all events until it is restarted. */
  #abort(error: Error): void {
    this.#aborting = true;
    this.#deps.log.fatal({ err: error }, 'event loop stopped after a fatal error');
    this.#deps.reportState('error', error);
    this.#queue.abort();
  }

  #end(): void {
    this.#closed = true;
    this.#queue.close();
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  #startPeriodicHealing(): void {
    const { config } = this.#deps;
    if (!config.enablePeriodicHealing) return;
    this.#every(durationMs(config.periodicHealingInterval), () => {
      if (this.#periodicHealingQueued) return;
      try {
        this.push(HealingResync.event({ type: 'periodic' }));
        this.#periodicHealingQueued = true;
      } catch (error) {
        this.#deps.log.warn({ err: error }, 'periodic healing resync could not be queued');
      }
    });
  }

  #after(ms: number, callback: () => void): Timer {
    const timer = this.#deps.clock.timer(ms, () => {
      this.#timers.delete(timer);
      if (!this.#closed && !this.#aborting) callback();
    });
    this.#timers.add(timer);
    return timer;
  }

  #cancel(timer: Timer): void {
    timer.cancel();
    this.#timers.delete(timer);
  }

  #every(ms: number, callback: () => void): void {
    this.#after(ms, () => {
      callback();
      this.#every(ms, callback);
    });
  }
}

function isUpdate({ kind, payload }: Event): boolean {
  return kind.method(payload) === EventMethod.Update;
}
