/**
 * The event loop: everything that changes the state of the agent is an event, and one event is
 * processed at a time. This file is the loop around `process-event.ts`: who may run next, what
 * follows from the outcome (healing, verification, the end), and the timers.
 */

import type { Timer } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { durationMs } from '#infra/config/duration.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { EventAbandonedError, FatalError } from './api/errors.ts';
import { type Event, EventMethod, type EventOrigin } from './api/event.ts';
import type { EventLoop } from './api/event-handler.ts';
import {
  type ConfigRetriever,
  DbResync,
  HealingResync,
  Shutdown,
  VerificationResync,
} from './api/events.ts';
import { EventHistory } from './event-history.ts';
import { EventProcessor, type Outcome, type ProcessorDeps } from './event-processor.ts';
import { EventQueue, type QueuedEvent } from './event-queue.ts';
import type { ProcessedEvent } from './event-record.ts';
import { isHealing } from './healing-policy.ts';
import type { Verification } from './verification.ts';

/** What the controller says of itself to the status check. */
export type ControllerState = 'init' | 'ok' | 'error';

export interface ControllerDeps extends ProcessorDeps {
  readonly reportState: (state: ControllerState, error?: Error) => void;
  /** Called after every event, for metrics and recording. */
  readonly onProcessed?: (processed: ProcessedEvent) => void;
  readonly observer?: EventObserver | undefined;
}

/** Sees each event before anything is done about it, and what came of it: for a recording. */
export interface EventObserver {
  eventStarted(seqNum: number, entry: QueuedEvent): Promise<void>;
  eventEnded(outcome: Outcome): Promise<void>;
}

const MIB = 1024 * 1024;
const MINUTE = 60_000;

export class Controller implements EventLoop, ConfigRetriever {
  readonly history: EventHistory;
  readonly #deps: ControllerDeps;
  readonly #processor: EventProcessor;
  readonly #queue = new EventQueue();
  readonly #timers = new Set<Timer>();
  /** What is being processed. */
  #current: QueuedEvent | undefined;
  #aborting = false;
  #closed = false;
  /** The healing that was asked for and has not begun yet. */
  #scheduledHealing: { readonly due: number; readonly timer: Timer } | undefined;
  #periodicHealingQueued = false;
  #running: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(deps: ControllerDeps) {
    this.#deps = deps;
    const { config, clock } = deps;
    this.history = new EventHistory(
      {
        ageMs: config.eventHistoryAgeLimit * MINUTE,
        permanentMs: config.permanentlyRecordedInitPeriod * MINUTE,
        bytes: config.eventHistorySizeLimit * MIB,
      },
      clock,
      deps.log,
    );
    this.#processor = new EventProcessor(
      deps,
      (event, followUpTo) => this.#followUp(event as Event, followUpTo),
      config.recordEventHistory ? this.history : undefined,
    );
  }

  /** Events that wait. */
  get queueLength(): number {
    return this.#queue.length;
  }

  /** Nothing is being processed and nothing waits for it. */
  get isIdle(): boolean {
    return this.#current === undefined && this.#queue.length === 0;
  }

  /** How many events have been taken up, this being the number of the next one. */
  get eventCount(): number {
    return this.#processor.seqNum;
  }

  /** How many resyncs of any kind have been processed. */
  get resyncCount(): number {
    return this.#processor.resyncCount;
  }

  /** What verification mode has found. */
  get verification(): Verification {
    return this.#processor.verification;
  }

  /** Starts the loop. Nothing but a Shutdown runs before the first Database Resync. */
  start(): void {
    const { config, reportState } = this.#deps;
    reportState('init');
    this.#running = this.#run();
    const deadline = durationMs(config.startupResyncDeadline);
    this.#after(deadline, () => {
      if (this.resyncCount > 0 || this.#aborting) return;
      const seconds = deadline / 1000;
      this.#abort(
        new FatalError(`startup resync has not executed within the first ${seconds} seconds`),
      );
    });
    if (config.recordEventHistory) this.#every(MINUTE, () => this.history.trim());
  }

  push(event: Event): void {
    this.#enqueue(event, undefined);
  }

  pushAndWait<P, R>(event: Event<P, R>, signal?: AbortSignal): Promise<R[]> {
    return new Promise((resolve, reject) => {
      const producer = { resolve: resolve as (replies: unknown[]) => void, reject, signal };
      this.#enqueue(event as Event, producer);
    });
  }

  #enqueue(event: Event, producer: QueuedEvent['producer']): void {
    // What was delayed may have filled the queue, and it is this event that all of it waits for.
    const isStartup = this.resyncCount === 0 && DbResync.is(event);
    const pushed = this.#deps.clock.monotonic();
    this.#queue.add({ event, followUpTo: undefined, pushed, producer }, isStartup);
  }

  /**
   * Asks for a healing resync as after a failed event; several requests before it runs are one, at
   * the earliest of their times.
   * @param delayMs default: `delayAfterErrorHealing`
   */
  scheduleHealing(
    reason: string,
    delayMs = durationMs(this.#deps.config.delayAfterErrorHealing),
  ): void {
    if (this.#aborting || this.#closing) return;
    const due = this.#deps.clock.monotonic() + delayMs;
    if (this.#scheduledHealing && this.#scheduledHealing.due <= due) return;
    this.#scheduledHealing?.timer.cancel();
    const timer = this.#after(delayMs, () => {
      try {
        this.push(HealingResync.event({ type: 'after-error', error: reason }));
      } catch (error) {
        // Only a full queue refuses it, and that does not last: nothing may stay unhealed.
        this.#deps.log.warn({ err: error }, 'healing could not be queued; it is tried again');
        this.#scheduledHealing = undefined;
        this.scheduleHealing(reason);
      }
    });
    this.#scheduledHealing = { due, timer };
  }

  /** VPP may have lost its configuration: a healing resync follows at once. */
  southboundReconnected(): void {
    this.scheduleHealing('VPP reconnected', 0);
  }

  /** The value of a key in the current transaction, else the last internal one; a copy. */
  getConfig(key: string): Value | undefined {
    return this.#processor.getConfig(key);
  }

  /** Lets the current event end, then runs a Shutdown and refuses everything else. */
  close(options: { readonly cleanup: boolean }): Promise<void> {
    this.#closing ??= this.#close(options);
    return this.#closing;
  }

  async #close(options: { readonly cleanup: boolean }): Promise<void> {
    try {
      if (!this.#aborting)
        await new Promise((resolve, reject) => {
          const event = Shutdown.event(options) as Event;
          const producer = { resolve, reject, signal: undefined };
          const pushed = this.#deps.clock.monotonic();
          this.#queue.closeWith({ event, followUpTo: undefined, pushed, producer });
        });
    } finally {
      this.#end();
      await this.#running;
    }
  }

  async #run(): Promise<void> {
    // A thousand small events must not keep sockets and timers waiting until the last is done.
    const slices = new Slices(this.#deps.clock);
    while (!this.#closed && !this.#aborting) {
      if (slices.due()) {
        await slices.turn();
        continue;
      }
      const entry = this.#queue.take((event) => this.#canRun(event));
      if (!entry) await this.#queue.wait();
      else if (entry.producer?.signal?.aborted)
        entry.producer.reject(new EventAbandonedError('the caller has gone'));
      else await this.#runEvent(entry);
    }
  }

  /** The startup resync comes first; everything else keeps its place. The end may come any time. */
  #canRun(event: Event): boolean {
    return this.resyncCount > 0 || DbResync.is(event) || Shutdown.is(event);
  }

  async #runEvent(entry: QueuedEvent): Promise<void> {
    const { event } = entry;
    // A failure during the healing shall cause the next one.
    if (isHealing(event)) this.#scheduledHealing = undefined;
    else if (HealingResync.is(event)) this.#periodicHealingQueued = false;
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
      // Handlers and transaction do not get here: this is a mistake in the agent, half-way.
      const where = event.kind.name(event.payload);
      const lost = new FatalError(errorText(thrown), { where, cause: thrown });
      entry.producer?.reject(lost);
      this.#abort(lost);
    } finally {
      this.#current = undefined;
    }
  }

  #followOutcome(event: Event, outcome: Outcome): void {
    const { record, error, fatal, needsHealing, waitsForSouthbound, verify } = outcome;
    if (fatal) this.#abort(fatal);
    else if (needsHealing) this.scheduleHealing(errorText(error));
    else if (event.kind.method(event.payload) !== EventMethod.Update && !waitsForSouthbound)
      this.#deps.reportState('ok');
    if (verify) this.#verify(record.seqNum);
    if (Shutdown.is(event)) this.#end();
  }

  #verify(followUpTo: number): void {
    try {
      this.#followUp(VerificationResync.event({}) as Event, followUpTo);
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'an event could not be verified');
    }
  }

  /** At the end of the agent nothing follows: the next one begins with a resync of everything. */
  #followUp(event: Event, followUpTo: number): void {
    if (event.kind.blocking === true) {
      const where = event.kind.name(event.payload);
      throw new TypeError(`${where}: the loop would wait for itself, it is a blocking event`);
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

  /** What outside has caused the event that is being processed, and when it was heard of. */
  #inheritedOrigin(): EventOrigin | undefined {
    const { event, pushed } = this.#current ?? {};
    if (!event?.origin || pushed === undefined) return undefined;
    const { clock } = this.#deps;
    return { heard: clock.now() - (clock.monotonic() - pushed), ...event.origin };
  }

  /** The agent is lost: it answers that it is ill and takes no events until it is ended. */
  #abort(error: Error): void {
    this.#aborting = true;
    this.#deps.log.fatal({ err: error }, 'the event loop has stopped for good');
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
        this.#deps.log.warn({ err: error }, 'periodic healing could not be queued');
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

  #every(ms: number, callback: () => void): void {
    this.#after(ms, () => {
      callback();
      this.#every(ms, callback);
    });
  }
}
