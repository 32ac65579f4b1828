/**
 * The way of one event, in the 13 steps of docs/event-loop.md: from the caches through the handlers
 * and the transaction to the record. `process` reads from top to bottom.
 *
 * After a crash nothing of this file is left: what must survive is in the datastore or in VPP and
 * Linux, and the startup resync finds it there.
 */
import { AbortEventError, FatalError } from '#eventloop/errors.ts';
import {
  Direction,
  type Event,
  EventMethod,
  type NonBlockingEvent,
  TransactionType,
} from '#eventloop/event.ts';
import type { EventHandler } from '#eventloop/handler.ts';
import type {
  KeyFailure,
  TransactionMode,
  TransactionRequest,
  TransactionSink,
  Value,
} from '#eventloop/transaction.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { durationMs } from '#infra/config/duration.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import {
  DATASTORE_SOURCE,
  DbResync,
  ExternalConfigChange,
  ExternalConfigResync,
  type ExternalSnapshot,
  HealingResync,
  KubeStateChange,
  Shutdown,
  VerificationResync,
} from './api.ts';
import { arrivalBanner, outcomeBanner } from './banner.ts';
import { Caches, type MergeValues } from './caches.ts';
import type { ControllerConfig } from './config.ts';
import type { EventRecord, HandlingRecord, PortAnswer } from './history.ts';
import type { QueuedEvent } from './queue.ts';
import { type HandlerOutcome, runHandler } from './run-handler.ts';
import { EventTransaction } from './transaction.ts';

/** Failed values that the text of an error names. */
const NAMED_FAILURES = 10;

/** Something that wants configuration of its own besides what the handlers make. */
export interface ExternalConfigSource {
  readonly label: string;
  /** Everything it wants now, by key without agent prefix. */
  snapshot(): Promise<ExternalSnapshot>;
}

export interface ProcessorDeps {
  readonly config: ControllerConfig;
  /** In the order in which they see a forward event. */
  readonly handlers: readonly EventHandler[];
  readonly sink: TransactionSink;
  readonly externalSources?: readonly ExternalConfigSource[];
  readonly merge: MergeValues;
  /** Whether a failure only says that VPP is away: its return causes the healing. */
  readonly isSouthboundGone: (error: Error) => boolean;
  /**
   * Whether a failure only says that what a value stands on has gone for good, as a namespace does.
   * Nothing is wrong with the agent then, and no healing helps.
   */
  readonly isBeyondHealing: (error: Error) => boolean;
  /**
   * Number of the southbound's present life, undefined while it is away. When a life has ended
   * during an event, whatever failed in it is healed by the resync that the next one begins with.
   */
  readonly southboundLife: () => number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Where the log boxes go. */
  readonly print: (text: string) => void;
}

/** What the loop has to do after an event. */
export interface Outcome {
  readonly record: EventRecord;
  /** Everything that went wrong, as one error. */
  readonly error: Error | undefined;
  /** The agent is lost. */
  readonly fatal: Error | undefined;
  readonly needsHealing: boolean;
  /** Something could not be done because what it stands on is away. */
  readonly waitsForSouthbound: boolean;
  /** Send a Verification Resync as a follow-up. */
  readonly verify: boolean;
}

/** All that is known of an event while it is processed. */
interface Processing {
  readonly entry: QueuedEvent;
  readonly event: Event;
  readonly method: EventMethod;
  readonly seqNum: number;
  readonly start: number;
  readonly description: string;
  readonly txn: EventTransaction;
  readonly records: HandlingRecord[];
  readonly answers: PortAnswer[];
  readonly replies: unknown[];
  /** Handlers that have processed the event, in that order. */
  readonly done: EventHandler[];
  /** Everything that went wrong, in order. */
  readonly errors: Error[];
  fatal: Error | undefined;
  /** Handlers after this one were not asked, and nothing is committed. */
  blocked: boolean;
  needsHealing: boolean;
  waitsForSouthbound: boolean;
  transaction: number | undefined;
  transactionError: Error | undefined;
}

/** Part of a transaction's record as REST shows it. */
interface RecordedOperations {
  readonly Executed?: readonly unknown[];
}

type Wish = Pick<TransactionRequest, 'mode' | 'values'>;

export class EventProcessor {
  readonly #deps: ProcessorDeps;
  readonly #caches: Caches;
  readonly #followUp: (event: NonBlockingEvent, followUpTo: number) => void;
  #seqNum = 0;
  #resyncCount = 0;
  #current: Processing | undefined;

  /** @param followUp queues an event that a handler sends while it handles another */
  constructor(
    deps: ProcessorDeps,
    followUp: (event: NonBlockingEvent, followUpTo: number) => void,
  ) {
    this.#deps = deps;
    this.#followUp = followUp;
    const sources = (deps.externalSources ?? []).map((source) => source.label);
    this.#caches = new Caches([DATASTORE_SOURCE, ...sources], deps.merge, deps.log);
  }

  /** Number of the next event. */
  get seqNum(): number {
    return this.#seqNum;
  }

  /** How many resyncs of any kind have been processed. */
  get resyncCount(): number {
    return this.#resyncCount;
  }

  /** The value of a key in the current transaction, else the last internal one. Read-only. */
  getConfig(key: string): Value | undefined {
    const values = this.#current?.txn.values;
    if (values?.has(key)) return values.get(key) ?? undefined;
    return this.#caches.internal(key);
  }

  /** The way of one event. */
  async process(entry: QueuedEvent): Promise<Outcome> {
    const { event } = entry;
    const { kind, payload } = event;
    const method = kind.method(payload);
    if (method !== EventMethod.Update) this.#resyncCount++;
    const life = this.#deps.southboundLife();

    // 1., 2. The caches of the input first: handlers see the state after the event.
    await this.#refreshCaches(event);

    // 3., 4. Who handles it, in which order.
    const handlers = this.#handlersOf(event, method);

    // 5. The record; it enters the history when the outcome is known.
    const processing: Processing = {
      entry,
      event,
      method,
      seqNum: this.#seqNum++,
      start: this.#deps.clock.now(),
      description: kind.describe(payload),
      txn: new EventTransaction(),
      records: [],
      answers: [],
      replies: [],
      done: [],
      errors: [],
      fatal: undefined,
      blocked: false,
      needsHealing: false,
      waitsForSouthbound: false,
      transaction: undefined,
      transactionError: undefined,
    };
    this.#current = processing;

    // 6. The first log box.
    this.#deps.print(
      arrivalBanner({
        seqNum: processing.seqNum,
        followUpTo: entry.followUpTo,
        description: processing.description,
        handlers: handlers.map((handler) => handler.name),
      }),
    );

    // 7. The handlers, one after the other.
    await this.#runHandlers(processing, handlers);
    processing.txn.seal();

    // 8., 9. One transaction, merged with what comes from outside.
    if (!processing.blocked) await this.#commit(processing);
    if (VerificationResync.is(event)) this.#verifySouthbound(processing);

    // 10. All or nothing: internal changes are undone in the reverse order of what was done.
    if (processing.errors.length > 0 && this.#isReverting(processing) && !processing.fatal)
      await this.#revert(processing);

    // What the loss of the southbound has broken shows in errors of many kinds.
    if (processing.errors.length > 0 && !this.#hasLived(life)) {
      processing.waitsForSouthbound = true;
      processing.needsHealing = false;
    }

    // 11. The second log box, the record, the answer to the producer.
    const { error, record } = this.#finalise(processing);
    this.#current = undefined;

    // 12. A healing that fails has shown that the agent cannot help itself.
    if (processing.needsHealing && isHealing(event) && !processing.fatal)
      processing.fatal = new FatalError(
        `healing has not been successful (prev error: ${event.payload.error}, ` +
          `healing error: ${errorText(error)})`,
        { cause: error },
      );

    // 13. What comes next: the end, a healing resync, a verification, or nothing.
    const { fatal, needsHealing, waitsForSouthbound } = processing;
    const verify = this.#isToBeVerified(processing);
    return { record, error, fatal, needsHealing, waitsForSouthbound, verify };
  }

  async #refreshCaches(event: Event): Promise<void> {
    if (DbResync.is(event)) {
      this.#caches.replaceKubeState(event.payload.kubeState);
      this.#caches.replaceExternal(DATASTORE_SOURCE, event.payload.externalConfig);
      for (const source of this.#deps.externalSources ?? []) {
        try {
          this.#caches.replaceExternal(source.label, await source.snapshot());
        } catch (error) {
          this.#deps.log.error(
            { err: error, source: source.label },
            'no snapshot of external configuration; the last one stays in force',
          );
        }
      }
    } else if (KubeStateChange.is(event)) this.#caches.changeKubeState(event.payload);
    else if (ExternalConfigChange.is(event)) this.#caches.changeExternal(event.payload);
    else if (ExternalConfigResync.is(event))
      this.#caches.replaceExternal(event.payload.source, event.payload.values);
  }

  #handlersOf(event: Event, method: EventMethod): EventHandler[] {
    if (method === EventMethod.DownstreamResync) return [];
    const interested = this.#deps.handlers.filter((handler) => handler.handlesEvent(event));
    const reverse =
      method === EventMethod.Update && event.kind.direction(event.payload) === Direction.Reverse;
    return reverse ? interested.reverse() : interested;
  }

  async #runHandlers(processing: Processing, handlers: readonly EventHandler[]): Promise<void> {
    const verified = VerificationResync.is(processing.event);
    for (const handler of handlers) {
      const before = verified ? handler.describeInternalData?.() : undefined;
      const outcome = await this.#call(handler, processing.method, processing);
      if (verified) this.#compareInternalData(handler, before);
      const { change = '', reply, error } = outcome;
      processing.records.push({
        handler: handler.name,
        revert: false,
        change,
        error: error && errorText(error),
      });
      if (reply !== undefined) processing.replies.push(reply);
      if (!error) {
        processing.done.push(handler);
        continue;
      }
      processing.errors.push(error);
      this.#judge(processing, error);
      if (error instanceof FatalError) processing.fatal = error;
      processing.blocked =
        this.#isReverting(processing) ||
        error instanceof FatalError ||
        error instanceof AbortEventError;
      if (processing.blocked) return;
      processing.done.push(handler);
    }
  }

  #call(
    handler: EventHandler,
    what: EventMethod | 'revert',
    processing: Processing,
  ): Promise<HandlerOutcome> {
    return runHandler(handler, what, {
      ...this.#deps,
      event: processing.event,
      kubeState: this.#caches.kubeState,
      resyncCount: this.#resyncCount,
      txn: processing.txn,
      replies: processing.replies,
      answers: processing.answers,
      followUp: (event) => this.#followUp(event, processing.seqNum),
    });
  }

  #compareInternalData(handler: EventHandler, before: string | undefined): void {
    const after = handler.describeInternalData?.();
    if (before !== after)
      this.#deps.log.error(
        { handler: handler.name, before, after },
        'internal data of the event handler were not in sync',
      );
  }

  /** Whether that life of the southbound has lasted until now. */
  #hasLived(life: number | undefined): boolean {
    return life !== undefined && life === this.#deps.southboundLife();
  }

  /** A resync in which nothing has changed has nothing to do. */
  #verifySouthbound({ transaction }: Processing): void {
    if (transaction === undefined) return;
    const record = this.#deps.sink.record(transaction) as RecordedOperations | undefined;
    const operations = record?.Executed?.length ?? 0;
    if (operations > 0)
      this.#deps.log.error(
        { transaction, operations },
        'the configuration of VPP and Linux was not in sync',
      );
  }

  /** Whether an error calls for healing, or waits for what will come by itself. */
  #judge(processing: Processing, error: Error): void {
    if (this.#deps.isSouthboundGone(error)) processing.waitsForSouthbound = true;
    else if (!this.#deps.isBeyondHealing(error))
      processing.needsHealing ||= this.#isToBeHealed(processing, error);
  }

  /** Errors of resyncs and of best-effort updates are healed; the other kinds say otherwise. */
  #isToBeHealed({ event, method }: Processing, error: Error): boolean {
    if (error instanceof AbortEventError) return true;
    if (method !== EventMethod.Update) return true;
    return event.kind.transactionType(event.payload) === TransactionType.BestEffort;
  }

  #isReverting({ event, method }: Processing): boolean {
    return (
      method === EventMethod.Update &&
      event.kind.transactionType(event.payload) === TransactionType.RevertOnFailure
    );
  }

  async #commit(processing: Processing): Promise<void> {
    const { method, txn } = processing;
    const wish = this.#wish(processing);
    if (wish.mode === 'update' && wish.values.size === 0) return;
    const failed = await this.#commitWish(processing, wish);
    const reverted = failed && this.#isReverting(processing);
    if (method === EventMethod.Update) {
      if (!reverted) this.#caches.applyInternal(txn.values);
    } else if (method !== EventMethod.DownstreamResync) this.#caches.replaceInternal(txn.values);
  }

  /** Changes, everything that is wanted, or, at an un-deploy, that nothing of ours shall be left. */
  #wish({ event, method, txn }: Processing): Wish {
    if (Shutdown.is(event) && event.payload.cleanup)
      return { mode: 'full-resync', values: new Map() };
    const mode = modes[method];
    if (mode === 'update') {
      const external = ExternalConfigChange.is(event) ? Object.keys(event.payload.values) : [];
      return { mode, values: this.#caches.mergedUpdate(txn.values, external) };
    }
    if (mode === 'downstream-resync') return { mode, values: new Map() };
    return { mode, values: this.#caches.mergedResync(txn.values) };
  }

  /** @returns whether anything failed */
  async #commitWish(processing: Processing, wish: Wish): Promise<boolean> {
    const { values } = wish;
    try {
      const { seqNum, failures } = await this.#deps.sink.commit(this.#request(processing, wish));
      processing.transaction = seqNum;
      if (failures.length === 0) return false;
      const error = transactionError(failures);
      processing.transactionError = error;
      processing.errors.push(error);
      for (const failure of failures)
        if (this.#isOurs(failure, values)) this.#judge(processing, failure.error);
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      processing.transactionError = error;
      processing.errors.push(error);
      this.#judge(processing, error);
    }
    return true;
  }

  /** What only an external source wants is its own affair, and so is what derives from it. */
  #isOurs({ key, base = key }: KeyFailure, values: ReadonlyMap<string, Value | null>): boolean {
    const internal =
      this.#current?.txn.values.has(base) || this.#caches.internal(base) !== undefined;
    return internal || !values.has(base) || !this.#caches.isExternal(base);
  }

  #request(processing: Processing, wish: Wish): TransactionRequest {
    const { config } = this.#deps;
    const { event, records } = processing;
    const changes = records
      .filter(({ change }) => change !== '')
      .map(({ handler, change }) => `\n* ${handler}: ${change}`);
    return {
      description: event.kind.name(event.payload) + changes.join(''),
      ...wish,
      onFailure: this.#isReverting(processing) ? 'revert' : 'best-effort',
      ...(config.enableRetry && {
        retry: {
          periodMs: durationMs(config.delayRetry),
          maxAttempts: config.maxRetryAttempts,
          exponential: config.enableExpBackoffRetry,
        },
      }),
    };
  }

  async #revert(processing: Processing): Promise<void> {
    for (const handler of processing.done.toReversed()) {
      const outcome = await this.#call(handler, 'revert', processing);
      processing.records.push({
        handler: handler.name,
        revert: true,
        change: '',
        error: outcome.error && errorText(outcome.error),
      });
      if (!outcome.error) continue;
      processing.errors.push(outcome.error);
      processing.needsHealing = true;
      if (outcome.error instanceof FatalError) {
        processing.fatal = outcome.error;
        return;
      }
    }
  }

  #finalise(processing: Processing): { error: Error | undefined; record: EventRecord } {
    const { clock, print } = this.#deps;
    const { entry, event, records, errors, transactionError: txnError } = processing;
    const [first] = errors;
    const error =
      errors.length <= 1 ? first : new AggregateError(errors, errors.map(errorText).join('; '));
    const end = clock.now();
    const failed = records.filter((record) => record.error !== undefined);
    print(
      outcomeBanner({
        seqNum: processing.seqNum,
        description: processing.description,
        handledBy: records.filter((record) => !record.revert).map((record) => record.handler),
        revertedBy: records.filter((record) => record.revert).map((record) => record.handler),
        errors: failed.map(
          (record) => `${record.handler}${record.revert ? ' (REVERT)' : ''}: ${record.error}`,
        ),
        transactionError: txnError && errorText(txnError),
        hasTransaction: processing.transaction !== undefined,
        tookMs: end - processing.start,
      }),
    );
    if (error) entry.producer?.reject(error);
    else entry.producer?.resolve(processing.replies);
    const record: EventRecord = {
      seqNum: processing.seqNum,
      start: processing.start,
      end,
      followUpTo: entry.followUpTo,
      event,
      description: processing.description,
      handlers: records,
      answers: processing.answers,
      transactionError: txnError && errorText(txnError),
      transaction: processing.transaction,
    };
    return { error, record };
  }

  #isToBeVerified({ event, needsHealing, fatal }: Processing): boolean {
    if (!this.#deps.config.enableVerification || needsHealing || fatal) return false;
    return !VerificationResync.is(event) && !Shutdown.is(event);
  }
}

const modes: Readonly<Record<EventMethod, TransactionMode>> = {
  [EventMethod.FullResync]: 'full-resync',
  [EventMethod.DownstreamResync]: 'downstream-resync',
  [EventMethod.UpstreamResync]: 'upstream-resync',
  [EventMethod.Update]: 'update',
};

export function isHealing(
  event: Event,
): event is Event<{ readonly type: 'after-error'; readonly error: string }> {
  return HealingResync.is(event) && event.payload.type === 'after-error';
}

/** The text names some; all of them stand in the record of the transaction. */
function transactionError(failures: readonly KeyFailure[]): Error {
  const texts = failures
    .slice(0, NAMED_FAILURES)
    .map(({ key, operation, error }) => `${key} (${operation}): ${error.message}`);
  const more = failures.length - texts.length;
  if (more > 0) texts.push(`and ${more} more`);
  return new AggregateError(
    failures.map(({ error }) => error),
    `KeyErrors: [${texts.join(', ')}]`,
  );
}
