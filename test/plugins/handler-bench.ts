/**
 * Bench for event handlers: `HandlerBench` runs one event at a time through handlers as the
 * controller does, and `checkHandler` checks the rules of docs/event-loop.md, "Adding an event
 * handler".
 */

import assert from 'node:assert/strict';

import type { Clock } from '#infra/clock/clock.ts';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { CodedError } from '#infra/errors/errors.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { AbortEventError, FatalError } from '#plugins/controller/api/errors.ts';
import {
  Direction,
  type Event,
  EventMethod,
  type NonBlockingEvent,
  TransactionType,
} from '#plugins/controller/api/event.ts';
import type { EventHandler, EventLoop } from '#plugins/controller/api/event-handler.ts';
import {
  DbResync,
  HealingResync,
  KubeStateChange,
  VerificationResync,
} from '#plugins/controller/api/events.ts';
import type { UpdateTransaction } from '#plugins/controller/api/transaction.ts';
import { pendingValues } from './pending-values.ts';

/** A transaction in memory. */
export class MemoryTxn implements UpdateTransaction {
  /** null: to be deleted. */
  readonly values = new Map<string, Value | null>();

  put(key: string, value: Value): void {
    this.values.set(key, value);
  }

  get<V extends Value = Value>(key: string): V | undefined {
    return (this.values.get(key) as V | null | undefined) ?? undefined;
  }

  delete(key: string): void {
    this.values.set(key, null);
  }
}

/** Result of an event. */
export interface Outcome {
  readonly txn: MemoryTxn;
  readonly replies: readonly unknown[];
  readonly changes: readonly string[];
  readonly portCalls: readonly string[];
  /** In the order in which they were sent; they have been processed already. */
  readonly followUps: readonly NonBlockingEvent[];
  readonly error: Error | undefined;
  /** Codes of the errors that were logged as warnings. */
  readonly warnings: readonly string[];
  /** Errors of `revert`. */
  readonly reverts: readonly Error[];
}

/** Runs events through handlers as the controller does. */
export class HandlerBench {
  readonly handlers: readonly EventHandler[];
  readonly kubeState = new Map<string, Map<string, Value>>();
  /** Committed configuration, by key. */
  config = new Map<string, Value>();
  /** Whether the southbound rejects a transaction. */
  rejects: (values: ReadonlyMap<string, Value | null>) => boolean = () => false;
  resyncCount = 0;
  /** Kinds of the events so far, with their follow-ups. */
  readonly processed: string[] = [];
  clock: Clock = new ManualClock();
  #last: Promise<unknown> = Promise.resolve();

  constructor(handlers: readonly EventHandler[]) {
    this.handlers = handlers;
  }

  /** Runs an event after those before it. @throws nothing: errors are in the outcome */
  run(event: Event): Promise<Outcome> {
    const run = this.#last.then(() => this.#process(event));
    this.#last = run;
    return run;
  }

  async #process(event: Event): Promise<Outcome> {
    this.processed.push(event.kind.id);
    this.#updateKubeState(event);
    const method = event.kind.method(event.payload);
    const update = method === EventMethod.Update;
    if (!update) this.resyncCount++;
    const reverting =
      update && event.kind.transactionType(event.payload) === TransactionType.RevertOnFailure;
    const handlers = this.handlers.filter((handler) => handler.handlesEvent(event));
    if (update && event.kind.direction(event.payload) === Direction.Reverse) handlers.reverse();

    const txn = new MemoryTxn();
    const followUps: NonBlockingEvent[] = [];
    const portCalls: string[] = [];
    const replies: unknown[] = [];
    const changes: string[] = [];
    const done: EventHandler[] = [];
    const reverts: Error[] = [];
    const pending: Promise<unknown>[] = [];
    const warnings: string[] = [];
    let error: Error | undefined;
    let blocked = false;
    const ctx = {
      event,
      kubeState: this.kubeState,
      clock: this.clock,
      random: seededRandom(1),
      log: {
        ...silentLogger,
        warn: ({ err }: { readonly err?: unknown }) => {
          if (err instanceof CodedError) warnings.push(err.code);
        },
      },
      signal: new AbortController().signal,
      txn,
      resyncCount: this.resyncCount,
      replies,
      followUp: (one: NonBlockingEvent) => void followUps.push(one),
      beforeCommit: (work: Promise<unknown>) => {
        pending.push(work);
        work.catch(() => undefined);
      },
      callPort: async <T>(question: string, port: () => Promise<T> | T): Promise<T> => {
        portCalls.push(question);
        const answer = await port();
        // a recording stores JSON: any other result would be different in a replay
        return answer === undefined ? answer : (JSON.parse(JSON.stringify(answer)) as T);
      },
    };
    for (const handler of handlers) {
      try {
        if (update) {
          const result = (await handler.update(ctx)) ?? {};
          if (result.reply !== undefined) replies.push(result.reply);
          if (result.change !== undefined) changes.push(`${handler.name}: ${result.change}`);
        } else await handler.resync(ctx);
        done.push(handler);
      } catch (thrown) {
        error ??= thrown as Error;
        blocked = reverting || thrown instanceof FatalError || thrown instanceof AbortEventError;
        if (blocked) break;
        done.push(handler);
      }
    }
    for (const ended of await Promise.allSettled(pending)) {
      if (ended.status === 'fulfilled') continue;
      error ??= ended.reason as Error;
      blocked ||= reverting;
    }
    if (!blocked && this.rejects(txn.values)) {
      error ??= new Error('the southbound rejects the transaction');
      blocked = reverting;
    }
    if (error && reverting)
      for (const handler of done.reverse())
        await Promise.resolve(handler.revert(ctx)).catch((thrown: Error) => reverts.push(thrown));
    if (!blocked) this.#commit(txn, update);
    const outcome = { txn, replies, changes, portCalls, followUps, error, reverts, warnings };
    for (const followUp of followUps) await this.#process(followUp);
    return outcome;
  }

  #commit(txn: MemoryTxn, update: boolean): void {
    if (!update) this.config = new Map();
    for (const [key, value] of txn.values)
      if (value === null) this.config.delete(key);
      else this.config.set(key, value);
  }

  #updateKubeState(event: Event): void {
    if (DbResync.is(event)) {
      this.kubeState.clear();
      for (const [keyword, values] of Object.entries(event.payload.kubeState))
        this.kubeState.set(keyword, new Map(Object.entries(values)));
    } else if (KubeStateChange.is(event)) {
      const { resource, key, current } = event.payload;
      const values = this.kubeState.get(resource) ?? new Map<string, Value>();
      this.kubeState.set(resource, values);
      if (current) values.set(key, current);
      else values.delete(key);
    }
  }
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
  { values }: MemoryTxn,
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
