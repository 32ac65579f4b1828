import type { Clock, Random } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { TransactionRequest, TransactionSink } from '#kvscheduler/api/transaction.ts';
import type { Event } from '../api/event.ts';
import type { EventHandler } from '../api/event-handler.ts';
import type { ExternalConfigSource } from '../api/events.ts';
import type { MergeValues } from '../cached-state.ts';
import type { ControllerDeps } from '../controller.ts';
import { recordedError } from './errors.ts';
import { type AnyContext, type WrappedContext, wrapHandler } from './handler-wrapper.ts';
import { RecordingFile } from './recording-file.ts';
import {
  FORMAT,
  type Readings,
  type RecordedEventData,
  type RecordedTransaction,
} from './recording-format.ts';

export interface RecorderOptions {
  readonly folder: string;
  /** Version of the agent. */
  readonly version: string;
  readonly label: string;
  /** Configuration with which the handlers are created, by file. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly maxBytes?: number;
}

/**
 * Records the event loop: each event, the answers of the ports and of the scheduler, and the
 * transactions. `wrap` intercepts all input and output; this is transparent to loop and handlers.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  #file: RecordingFile | undefined;
  #n = 0;
  #generations: (number | null)[] = [];

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Starts a recording. @returns the dependencies with which the recorded event loop must be created */
  wrap(deps: ControllerDeps): ControllerDeps {
    const { folder, version, label, settings, clock, log, maxBytes } = this.#options;
    this.#file = new RecordingFile({
      folder,
      clock,
      log,
      ...(maxBytes !== undefined && { maxBytes }),
      header: {
        t: 'run',
        format: FORMAT,
        version,
        label,
        at: clock.now(),
        controller: deps.config,
        sources: (deps.externalSources ?? []).map((source) => source.label),
        settings,
      },
    });
    return {
      ...deps,
      handlers: deps.handlers.map((handler) => this.#handler(handler)),
      sink: this.#sink(deps.sink),
      merge: this.#merge(deps.merge),
      ...(deps.externalSources && {
        externalSources: deps.externalSources.map((source) => this.#source(source)),
      }),
      southboundGeneration: () => {
        const generation = deps.southboundGeneration();
        this.#generations.push(generation ?? null);
        return generation;
      },
      observer: {
        eventStarted: async (n, { event, followUpTo }) => {
          this.#n = n;
          this.#generations = [];
          await this.#file?.append({
            t: 'event',
            n,
            at: clock.now(),
            followUpTo,
            ...eventData(event),
          });
        },
        eventEnded: async ({ error, fatal, needsHealing }) => {
          await this.#file?.append({
            t: 'end',
            n: this.#n,
            at: clock.now(),
            error: error?.message,
            fatal: fatal !== undefined,
            needsHealing,
            lives: this.#generations,
          });
        },
      },
    };
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  #handler(inner: EventHandler): EventHandler {
    return wrapHandler(inner, (ctx) => this.#context(inner.name, ctx));
  }

  #context<C extends AnyContext>(of: string, ctx: C): WrappedContext<C> {
    const n = this.#n;
    const read: ReadValues = { now: [], monotonic: [], random: [] };
    const wrapped: C = {
      ...ctx,
      clock: recordingClock(ctx.clock, read),
      random: recordingRandom(ctx.random, read),
      callPort: async <T>(question: string, port: () => Promise<T> | T): Promise<T> => {
        try {
          const answer = await ctx.callPort(question, port);
          await this.#file?.append({ t: 'answer', n, of, question, answer });
          return answer;
        } catch (thrown) {
          const error = recordedError(thrown);
          await this.#file?.append({ t: 'answer', n, of, question, error });
          throw thrown;
        }
      },
    };
    if ('followUp' in ctx) {
      const followUp = (event: Parameters<typeof ctx.followUp>[0]): void => {
        ctx.followUp(event);
        void this.#file?.append({ t: 'follow-up', n, of, ...eventData(event as Event) });
      };
      Object.assign(wrapped, { followUp });
    }
    const end = async () => {
      const readings = readingsOf(read);
      if (readings) await this.#file?.append({ t: 'readings', n, of, ...readings });
    };
    return { ctx: wrapped, end };
  }

  #sink(inner: TransactionSink): TransactionSink {
    return {
      commit: async (request) => {
        const n = this.#n;
        await this.#file?.append({ t: 'commit', n, ...transactionData(request) });
        try {
          const result = await inner.commit(request);
          const { seqNum } = result;
          const failures = result.failures.map((failure) => ({
            ...failure,
            error: recordedError(failure.error),
          }));
          await this.#file?.append({ t: 'result', n, seqNum, failures });
          return result;
        } catch (thrown) {
          await this.#file?.append({ t: 'result', n, rejected: recordedError(thrown) });
          throw thrown;
        }
      },
      record: (seqNum) => inner.record(seqNum),
    };
  }

  /** Only rejections: a replay merges by itself, but has no descriptors that validate the result. */
  #merge(inner: MergeValues): MergeValues {
    return (key, base, over) => {
      try {
        return inner(key, base, over);
      } catch (thrown) {
        const error = recordedError(thrown);
        void this.#file?.append({ t: 'answer', n: this.#n, of: MERGE, question: key, error });
        throw thrown;
      }
    };
  }

  #source(inner: ExternalConfigSource): ExternalConfigSource {
    const line = { t: 'answer', of: sourceName(inner.label), question: SNAPSHOT_QUESTION } as const;
    return {
      label: inner.label,
      snapshot: async () => {
        const n = this.#n;
        try {
          const answer = await inner.snapshot();
          await this.#file?.append({ ...line, n, answer });
          return answer;
        } catch (thrown) {
          await this.#file?.append({ ...line, n, error: recordedError(thrown) });
          throw thrown;
        }
      },
    };
  }
}

export const SNAPSHOT_QUESTION = 'snapshot';

/** The part of the event loop that merges the values of a key. */
export const MERGE = 'merge';

export function sourceName(label: string): string {
  return `source ${label}`;
}

export function eventData({ kind, payload, origin }: Event): RecordedEventData {
  return { kind: kind.id, v: kind.version, payload, ...(origin && { origin }) };
}

export function transactionData(request: TransactionRequest): RecordedTransaction {
  const { description, mode, onFailure, optional, retry, values } = request;
  return {
    description,
    mode,
    onFailure,
    ...(optional && { optional: [...optional] }),
    retry,
    values: Object.fromEntries(values),
  };
}

interface ReadValues {
  readonly now: number[];
  readonly monotonic: [ms: number, times: number][];
  readonly random: (number | string)[];
}

/** Records whole milliseconds, which suffice for durations and keep the recording small. */
function recordingClock(clock: Clock, read: ReadValues): Clock {
  return {
    now: () => {
      const now = clock.now();
      read.now.push(now);
      return now;
    },
    monotonic: () => {
      const ms = Math.floor(clock.monotonic());
      const last = read.monotonic.at(-1);
      if (last?.[0] === ms) last[1]++;
      else read.monotonic.push([ms, 1]);
      return ms;
    },
    wallTime: () => clock.wallTime(),
    timer: (ms, callback) => clock.timer(ms, callback),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    turn: () => clock.turn(),
  };
}

function recordingRandom(random: Random, read: ReadValues): Random {
  return {
    next: () => {
      const number = random.next();
      read.random.push(number);
      return number;
    },
    bytes: (length) => {
      const bytes = random.bytes(length);
      read.random.push(Buffer.from(bytes).toString('base64'));
      return bytes;
    },
  };
}

function readingsOf({ now, monotonic, random }: ReadValues): Readings | undefined {
  if (now.length + monotonic.length + random.length === 0) return undefined;
  return {
    ...(now.length > 0 && { now }),
    ...(monotonic.length > 0 && { monotonic }),
    ...(random.length > 0 && { random }),
  };
}
