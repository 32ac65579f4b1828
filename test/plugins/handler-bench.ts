/** Event handlers run one event at a time as the controller does it. */

import type { Clock } from '#infra/clock/clock.ts';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
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
import { DbResync, KubeStateChange } from '#plugins/controller/api/events.ts';
import type { UpdateTransaction } from '#plugins/controller/api/transaction.ts';

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

/** What became of an event. */
export interface Outcome {
  readonly txn: MemoryTxn;
  readonly replies: readonly unknown[];
  readonly changes: readonly string[];
  readonly portCalls: readonly string[];
  /** In the order in which they were sent; they have been run by now. */
  readonly followUps: readonly NonBlockingEvent[];
  readonly error: Error | undefined;
  /** What went wrong while it was reverted. */
  readonly reverts: readonly Error[];
}

/** Runs events through handlers the way the controller does. */
export class HandlerBench {
  readonly handlers: readonly EventHandler[];
  readonly kubeState = new Map<string, Map<string, Value>>();
  /** What has been committed, by key. */
  config = new Map<string, Value>();
  /** Whether the southbound refuses a transaction. */
  rejects: (values: ReadonlyMap<string, Value | null>) => boolean = () => false;
  resyncCount = 0;
  clock: Clock = new ManualClock();

  constructor(handlers: readonly EventHandler[]) {
    this.handlers = handlers;
  }

  /** @throws nothing: errors are in the outcome */
  async run(event: Event): Promise<Outcome> {
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
    let error: Error | undefined;
    let blocked = false;
    const ctx = {
      event,
      kubeState: this.kubeState,
      clock: this.clock,
      random: seededRandom(1),
      log: silentLogger,
      signal: new AbortController().signal,
      txn,
      resyncCount: this.resyncCount,
      replies,
      followUp: (one: NonBlockingEvent) => void followUps.push(one),
      callPort: async <T>(question: string, port: () => Promise<T> | T): Promise<T> => {
        portCalls.push(question);
        const answer = await port();
        // what is recorded is JSON: an answer that is none would be another one at a replay
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
    if (!blocked && this.rejects(txn.values)) {
      error ??= new Error('the southbound refuses');
      blocked = reverting;
    }
    if (error && reverting)
      for (const handler of done.reverse())
        await Promise.resolve(handler.revert(ctx)).catch((thrown: Error) => reverts.push(thrown));
    if (!blocked) this.#commit(txn, update);
    const outcome = { txn, replies, changes, portCalls, followUps, error, reverts };
    for (const followUp of followUps) await this.run(followUp);
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

/** A queue of one after the other in front of a bench, for producers of blocking events. */
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
