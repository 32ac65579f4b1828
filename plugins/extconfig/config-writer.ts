/**
 * Carries out the requests of clients, one after the other: each is stored, and then applied by an event.
 * A request ends with the answer to its event, so that the store and the event loop have the same order.
 */
import { defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import {
  ClosedControllerError,
  EventAbandonedError,
  EventLoopIsAbortingError,
  EventQueueFullError,
  FailedValuesError,
  NotConfiguredError,
} from '#plugins/controller/api/errors.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import type { EventLoop } from '#plugins/controller/api/event-handler.ts';
import { ExternalConfigChange, ExternalConfigResync } from '#plugins/controller/api/events.ts';
import { GRPC_SOURCE } from './api.ts';
import type { ConfigItem } from './data-request.ts';
import type { ConfigChanges, StoredConfig } from './stored-config.ts';

export const ConfigNotStoredError = defineError({
  name: 'ConfigNotStoredError',
  code: 'CV_EXTCONFIG_NOT_STORED',
  isRetriable: true,
  remedy: 'Check the disk that readiness names, then repeat the request.',
});

export const ConfigNotAppliedError = defineError({
  name: 'ConfigNotAppliedError',
  code: 'CV_EXTCONFIG_NOT_APPLIED',
  isRetriable: true,
  remedy: 'Repeat the request: nothing of it is stored or applied.',
});

/** Why an item was stored and could not be configured, by key. */
export type Failures = ReadonlyMap<string, Error>;

/** Errors of an event that was not run. */
const refusals = [
  ClosedControllerError,
  EventAbandonedError,
  EventLoopIsAbortingError,
  EventQueueFullError,
  NotConfiguredError,
] as const;

export interface ConfigWriterDeps {
  readonly loop: Pick<EventLoop, 'pushAndWait'>;
  readonly stored: StoredConfig;
  /** Called when a resync has replaced everything. */
  readonly onReplaced: () => Promise<void>;
  readonly log: Logger;
}

export class ConfigWriter {
  readonly #deps: ConfigWriterDeps;
  #last: Promise<void> = Promise.resolve();

  constructor(deps: ConfigWriterDeps) {
    this.#deps = deps;
  }

  /**
   * @param signal aborted when the client disconnects: before its event begins, the request is dropped
   * @throws ConfigNotStoredError, ConfigNotAppliedError; other errors are those of the event
   */
  put(items: readonly ConfigItem[], signal: AbortSignal): Promise<Failures> {
    return this.#change(new Map(items.map(({ key, value }) => [key, value])), signal);
  }

  /** As `put`. Items that do not exist are deleted already. */
  delete(items: readonly Pick<ConfigItem, 'key'>[], signal: AbortSignal): Promise<Failures> {
    return this.#change(new Map(items.map(({ key }) => [key, null])), signal);
  }

  /**
   * Replaces all items; as `put`.
   * @param keepsOthers whether items stay that are not among the new ones
   */
  resync(
    items: readonly ConfigItem[],
    keepsOthers: boolean,
    signal: AbortSignal,
  ): Promise<Failures> {
    const { stored, onReplaced } = this.#deps;
    return this.#inTurn(signal, async () => {
      const changes = new Map<string, object | null>();
      if (!keepsOthers) for (const key of stored.storedKeys()) changes.set(key, null);
      for (const { key, value } of items) changes.set(key, value);
      const kept = keepsOthers ? await stored.snapshot() : {};
      const values = Object.fromEntries(items.map(({ key, value }) => [key, value]));
      const event = ExternalConfigResync.event({
        source: GRPC_SOURCE,
        values: { ...kept, ...values },
      });
      const failures = await this.#run(changes, event, signal);
      if (!keepsOthers) await onReplaced();
      return failures;
    });
  }

  /** Resolves when the requests so far have ended. */
  async idle(): Promise<void> {
    await this.#last;
  }

  #change(changes: ConfigChanges, signal: AbortSignal): Promise<Failures> {
    const values = Object.fromEntries(changes);
    const event = ExternalConfigChange.event({ source: GRPC_SOURCE, values });
    return this.#inTurn(signal, () => this.#run(changes, event, signal));
  }

  /** A request whose client disconnects while it waits ends at once: its items must not stay in memory. */
  async #inTurn<R>(signal: AbortSignal, work: () => Promise<R>): Promise<R> {
    const earlier = this.#last;
    const ended = Promise.withResolvers<void>();
    this.#last = earlier.then(() => ended.promise);
    try {
      await unlessAborted(signal, earlier);
      return await work();
    } finally {
      ended.resolve();
    }
  }

  /**
   * After a crash between the two, the change is applied by the next start, and its client has no
   * answer: it repeats the request.
   */
  async #run<P>(changes: ConfigChanges, event: Event<P>, signal: AbortSignal): Promise<Failures> {
    const { loop, stored } = this.#deps;
    if (changes.size === 0 && ExternalConfigChange.is(event)) return new Map();
    try {
      await stored.write(changes);
    } catch (cause) {
      throw new ConfigNotStoredError(`the request could not be stored: ${errorText(cause)}`, {
        cause,
      });
    }
    try {
      await loop.pushAndWait(event, signal);
    } catch (thrown) {
      if (refusals.some((Refusal) => thrown instanceof Refusal)) {
        await this.#takeBack(changes);
        throw notApplied(thrown);
      }
      stored.commit(changes);
      return failuresOf(thrown, changes);
    }
    stored.commit(changes);
    return new Map();
  }

  async #takeBack(changes: ConfigChanges): Promise<void> {
    const { stored, log } = this.#deps;
    try {
      await stored.restore(changes);
    } catch (error) {
      log.error({ err: error }, 'a refused change is still stored; the next write removes it');
    }
  }
}

/** @throws ConfigNotAppliedError when the client disconnects first */
function unlessAborted(signal: AbortSignal, earlier: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const abandon = () =>
      reject(notApplied(new EventAbandonedError('the client has disconnected')));
    if (signal.aborted) abandon();
    signal.addEventListener('abort', abandon, { once: true });
    void earlier.then(resolve);
  });
}

function notApplied(cause: unknown): Error {
  return new ConfigNotAppliedError(`the request was not applied: ${errorText(cause)}`, { cause });
}

/**
 * The failures of the changed values. A resync applies the values of the whole agent: failures of others
 * are not those of the client.
 * @throws what the event failed with besides failures of values
 */
function failuresOf(error: unknown, changes: ConfigChanges): Failures {
  const failures = new Map<string, Error>();
  for (const one of partsOf(error)) {
    if (!(one instanceof FailedValuesError)) throw one;
    for (const { key, base = key, error: reason } of one.failures)
      if (changes.has(base) && !failures.has(base)) failures.set(base, reason);
  }
  return failures;
}

/** The errors of an event, which may have failed for several reasons. */
function partsOf(error: unknown): readonly unknown[] {
  if (error instanceof FailedValuesError || !(error instanceof AggregateError)) return [error];
  return error.errors;
}
