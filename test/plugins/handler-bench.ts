/**
 * Bench for event handlers: `HandlerBench` runs one event at a time through the event processor of the
 * controller, and `checkHandler` checks the rules of docs/event-loop.md, "Adding an event handler".
 */

import assert from 'node:assert/strict';

import type { Clock } from '#infra/clock/clock.ts';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { CodedError } from '#infra/errors/errors.ts';
import { type NamedLogger, silentLogger } from '#infra/log/log.ts';
import type { TransactionRequest, TransactionResult, Value } from '#kvscheduler/api/transaction.ts';
import { FailedValuesError } from '#plugins/controller/api/errors.ts';
import {
  type Event,
  type NonBlockingEvent,
  TransactionType,
} from '#plugins/controller/api/event.ts';
import type { EventHandler, EventLoop, KubeState } from '#plugins/controller/api/event-handler.ts';
import { DbResync, HealingResync, VerificationResync } from '#plugins/controller/api/events.ts';
import { DesiredState } from '#plugins/controller/desired-state.ts';
import { EventProcessor } from '#plugins/controller/event-processor.ts';
import {
  type AnyContext,
  type WrappedContext,
  wrapHandler,
} from '#plugins/controller/recording/handler-wrapper.ts';
import { controllerConfig } from './controller/controller-harness.ts';
import { pendingValues } from './pending-values.ts';

/** Result of an event. */
export interface Outcome {
  readonly txn: {
    /** null: deleted. Empty if nothing was committed. */
    readonly values: ReadonlyMap<string, Value | null>;
  };
  readonly replies: readonly unknown[];
  readonly changes: readonly string[];
  readonly portCalls: readonly string[];
  /** In the order in which they were sent; they have been processed already. */
  readonly followUps: readonly NonBlockingEvent[];
  /** The first one. */
  readonly error: Error | undefined;
  readonly isCommitted: boolean;
  /** Of the event or of a follow-up: the event loop ends. */
  readonly fatal: Error | undefined;
  /** After the event or a follow-up, a healing resync follows. */
  readonly needsHealing: boolean;
  /** Codes of the errors that were logged as warnings, also by follow-ups. */
  readonly warnings: readonly string[];
  /** Errors of `revert`. */
  readonly reverts: readonly string[];
}

/** The event processor of the controller, with a southbound that accepts or rejects whole transactions. */
export class HandlerBench {
  readonly handlers: readonly EventHandler[];
  readonly desired: DesiredState;
  /** Committed configuration, by key. */
  config = new Map<string, Value>();
  /** Whether the southbound rejects a transaction. */
  rejects: (values: ReadonlyMap<string, Value | null>) => boolean = () => false;
  /** Kinds of the events so far, with their follow-ups. */
  readonly processed: string[] = [];
  clock: Clock = new ManualClock();
  readonly #processor: EventProcessor;
  #last: Promise<unknown> = Promise.resolve();
  #values: ReadonlyMap<string, Value | null> = new Map();
  #followUps: NonBlockingEvent[] = [];
  #portCalls: string[] = [];
  #warnings: string[] = [];

  constructor(handlers: readonly EventHandler[], desired = new DesiredState()) {
    const bench = this;
    const log: NamedLogger = {
      ...silentLogger,
      warn: ({ err }: { readonly err?: unknown }) => {
        if (err instanceof CodedError) this.#warnings.push(err.code);
      },
      child: () => log,
    };
    this.handlers = handlers;
    this.desired = desired;
    this.#processor = new EventProcessor(
      {
        handlers: handlers.map((handler) => wrapHandler(handler, (ctx) => this.#asRecorded(ctx))),
        desired,
        config: controllerConfig(),
        sink: { commit: async (request) => this.#commit(request), record: () => undefined },
        merge: (_key, _base, over) => over,
        southboundGeneration: () => 1,
        get clock() {
          return bench.clock;
        },
        get random() {
          return seededRandom(1);
        },
        log: silentLogger,
        handlerLog: () => log,
        print: () => undefined,
      },
      (event) => this.#followUps.push(event),
    );
  }

  get kubeState(): KubeState {
    return this.#processor.kubeState;
  }

  get resyncCount(): number {
    return this.#processor.resyncCount;
  }

  /** Runs an event after those before it. @throws nothing: errors are in the outcome */
  run(event: Event): Promise<Outcome> {
    const run = this.#last.then(() => this.#process(event));
    this.#last = run;
    return run;
  }

  async #process(event: Event): Promise<Outcome> {
    this.processed.push(event.kind.id);
    this.#values = new Map();
    this.#followUps = [];
    this.#portCalls = [];
    this.#warnings = [];
    let replies: readonly unknown[] = [];
    const producer = {
      resolve: (all: readonly unknown[]) => {
        replies = all;
      },
      reject: () => undefined,
    };
    const processing = { event, followUpTo: undefined, pushed: 0, producer };
    const { error, record, fatal, needsHealing } = await this.#processor.process(processing);
    const outcome = {
      txn: { values: this.#values },
      replies,
      changes: record.handlers
        .filter(({ change }) => change !== '')
        .map(({ handler, change }) => `${handler}: ${change}`),
      portCalls: this.#portCalls,
      followUps: this.#followUps,
      error: firstOf(error) ?? fatal,
      isCommitted: record.transaction !== undefined,
      fatal,
      needsHealing,
      reverts: record.handlers.flatMap((one) => (one.revert && one.error ? [one.error] : [])),
      warnings: this.#warnings,
    };
    const warnings = [...outcome.warnings];
    for (const followUp of outcome.followUps) {
      if (outcome.fatal) break;
      const next = await this.#process(followUp);
      outcome.fatal = next.fatal;
      outcome.needsHealing ||= next.needsHealing;
      warnings.push(...next.warnings);
    }
    return { ...outcome, warnings };
  }

  /** A recording stores the answers of ports as JSON: any other answer would be different in a replay. */
  #asRecorded<C extends AnyContext>(ctx: C): WrappedContext<C> {
    const callPort = async <T>(name: string, call: () => Promise<T> | T): Promise<T> => {
      this.#portCalls.push(name);
      const answer = await ctx.callPort(name, call);
      return answer === undefined ? answer : (JSON.parse(JSON.stringify(answer)) as T);
    };
    return { ctx: { ...ctx, callPort }, end: () => undefined };
  }

  #commit({ mode, values, onFailure }: TransactionRequest): TransactionResult {
    this.#values = values;
    const isRejected = this.rejects(values);
    if (mode.endsWith('-resync') && mode !== 'downstream-resync') this.config = new Map();
    if (!isRejected || onFailure !== 'revert')
      for (const [key, value] of values)
        if (value === null) this.config.delete(key);
        else this.config.set(key, value);
    const error = new Error('the southbound rejects the transaction');
    return {
      seqNum: 0,
      failures: isRejected
        ? [{ key: [...values.keys()][0] ?? '', operation: 'CREATE', error }]
        : [],
    };
  }
}

function firstOf(error: Error | undefined): Error | undefined {
  const isList = error instanceof AggregateError && !(error instanceof FailedValuesError);
  return isList ? (error.errors as Error[])[0] : error;
}

/** An event loop in front of a bench, for producers of blocking events. */
export function eventLoopOf(bench: HandlerBench): EventLoop & { readonly seen: Event[] } {
  const seen: Event[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const enqueue = (event: Event, signal?: AbortSignal): Promise<Outcome> => {
    const run = last.then(() => {
      signal?.throwIfAborted();
      seen.push(event);
      return bench.run(event);
    });
    last = run.catch(() => undefined);
    return run;
  };
  return {
    seen,
    push: (event) => void enqueue(event),
    pushAndWait: async <P, R>(event: Event<P, R>, signal?: AbortSignal): Promise<R[]> => {
      const { error, replies } = await enqueue(event as Event, signal);
      if (error) throw error;
      return [...replies] as R[];
    },
  };
}

/** Input of `checkHandler`. */
export interface HandlerScenario {
  /**
   * Creates a bench with the handler, behind the handlers that it reads from. Called for each start of
   * the agent: stores that persist must be created outside.
   */
  readonly create: () => HandlerBench;
  /** The startup resync, normally a Database Resync. */
  readonly startup: Event;
  /** Updates in their order; at least one of each kind that the handler handles. */
  readonly updates: readonly Event[];
  /** Keys that VPP or Linux report by themselves, such as NICs, and that values may depend on. */
  readonly reported?: readonly string[];
}

/**
 * Checks the rules for event handlers:
 * - every handler handles all resyncs;
 * - a resync after each update reaches the same values and internal data as the update did;
 * - a restarted agent reaches the same values from the state of Kubernetes and the stores;
 * - after a rejected `RevertOnFailure` event, a resync reaches the values from before the event, and
 *   the internal data that `revert` has left;
 * - a `RevertOnFailure` event puts no value that stays pending, because a pending value counts as
 *   a failure there and reverts the event.
 * @throws AssertionError naming the event and the rule
 */
export async function checkHandler(scenario: HandlerScenario): Promise<void> {
  const { startup, updates, reported = [] } = scenario;
  const bench = scenario.create();
  checkResyncsAreHandled(bench);
  await runWithoutError(bench, startup);
  await checkResync(bench, startup);
  for (const event of updates) {
    const isRevertible =
      event.kind.transactionType(event.payload) === TransactionType.RevertOnFailure;
    if (isRevertible) await checkRevert(bench, event);
    const { txn } = await runWithoutError(bench, event);
    if (isRevertible) checkNothingPends(bench, event, txn, reported);
    await checkResync(bench, event);
  }
  await checkRestart(scenario, bench);
}

const resyncs: readonly Event[] = [
  DbResync.event({ local: false, kubeState: {}, externalConfig: {} }),
  HealingResync.event({ type: 'after-error', error: 'test' }),
  VerificationResync.event({}),
];

/** Handlers that put no values need no resync. */
const withoutValues: readonly string[] = ['statscollector'];

function checkResyncsAreHandled({ handlers }: HandlerBench): void {
  for (const handler of handlers.filter(({ name }) => !withoutValues.includes(name)))
    for (const event of resyncs)
      assert.ok(
        handler.handlesEvent(event),
        `${handler.name} does not handle ${nameOf(event)}: its values would be removed`,
      );
}

async function runWithoutError(bench: HandlerBench, event: Event): Promise<Outcome> {
  const outcome = await bench.run(event);
  assert.equal(outcome.error, undefined, `${nameOf(event)} fails: ${outcome.error}`);
  return outcome;
}

/** A resync must reach the state that the event has reached. */
async function checkResync(bench: HandlerBench, event: Event): Promise<void> {
  const before = stateOf(bench);
  await runWithoutError(bench, HealingResync.event({ type: 'after-error', error: 'test' }));
  assert.deepEqual(
    stateOf(bench),
    before,
    `a resync after ${nameOf(event)} does not reach the same state as the event`,
  );
}

/** Internal data may differ from before the event where they are not part of the values. */
async function checkRevert(bench: HandlerBench, event: Event): Promise<void> {
  const before = stateOf(bench);
  const { rejects } = bench;
  bench.rejects = () => true;
  const { error, reverts } = await bench.run(event);
  bench.rejects = rejects;
  assert.ok(error, `${nameOf(event)} was rejected and does not fail`);
  assert.deepEqual(reverts, [], `revert fails after ${nameOf(event)}`);
  const { internalData } = stateOf(bench);
  await runWithoutError(bench, HealingResync.event({ type: 'after-error', error: 'test' }));
  assert.deepEqual(
    stateOf(bench),
    { values: before.values, internalData },
    `the handlers do not revert their state after a rejected ${nameOf(event)}`,
  );
}

function checkNothingPends(
  bench: HandlerBench,
  event: Event,
  { values }: Outcome['txn'],
  reported: readonly string[],
): void {
  const pending = pendingValues(bench.config, reported);
  for (const [key, unmet] of pending)
    assert.ok(
      !values.has(key),
      `${nameOf(event)} puts ${key}, which stays pending (unmet dependency ${unmet}): ` +
        'in a RevertOnFailure event that is a failure. Put the dependency, too, or put the value ' +
        'in a best-effort follow-up.',
    );
}

async function checkRestart(scenario: HandlerScenario, bench: HandlerBench): Promise<void> {
  const restarted = scenario.create();
  const kubeState = Object.fromEntries(
    [...bench.kubeState].map(([resource, values]) => [resource, Object.fromEntries(values)]),
  );
  await runWithoutError(restarted, DbResync.event({ local: false, kubeState, externalConfig: {} }));
  assert.deepEqual(
    sortedEntries(restarted.config),
    sortedEntries(bench.config),
    'a restarted agent does not reach the same values',
  );
}

/** Values, and internal data of the handlers that describe them. */
function stateOf({ config, handlers }: HandlerBench) {
  return {
    values: sortedEntries(config),
    internalData: handlers.map((handler) => [handler.name, handler.describeInternalData?.()]),
  };
}

function sortedEntries(config: ReadonlyMap<string, Value>): [string, Value][] {
  return [...config].sort(([a], [b]) => (a < b ? -1 : 1));
}

function nameOf({ kind, payload }: Event): string {
  return kind.name(payload);
}
