/**
 * Runs the events of a recording through event handlers, with the recorded answers in place of the
 * ports, and compares the transactions with the recorded ones. Time is virtual, so a replay takes
 * only the CPU time of its handlers.
 */

import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { TransactionResult, TransactionSink } from '#kvscheduler/api/transaction.ts';
import type { DesiredValues } from '../api/desired-values.ts';
import { type Event, type EventKind, eventKind } from '../api/event.ts';
import type { EventHandler } from '../api/event-handler.ts';
import type { MergeValues } from '../cached-state.ts';
import { DesiredState } from '../desired-state.ts';
import { EventProcessor } from '../event-processor.ts';
import { NotRecordedError, RecordingError, replayedError } from './errors.ts';
import { EventReplay } from './event-replay.ts';
import { wrapHandler } from './handler-wrapper.ts';
import { SNAPSHOT_QUESTION, sourceName } from './recorder.ts';
import type { EventLine, HeaderLine } from './recording-format.ts';
import type { RecordedEvent, Recording } from './recording-reader.ts';
import { type Difference, ReplayComparison } from './replay-comparison.ts';

/** Handlers and merge function of this build, created from the recorded configuration. */
export interface ReplayDeps {
  readonly handlers: readonly EventHandler[];
  readonly merge: MergeValues;
}

export interface ReplayReport {
  /** Events that were replayed. */
  readonly events: number;
  readonly transactions: number;
  /** All differences of the first event that differs; empty: no differences. */
  readonly differences: readonly Difference[];
  /** Why the recording ends early; undefined: it is complete. */
  readonly ending: string | undefined;
}

/** Virtual time limit of an event whose handlers wait for something that never happens. */
const MAX_EVENT_MS = 600_000;
const STEP_MS = 1000;
/** Event loop turns without activity after which the virtual time is advanced. */
const IDLE_TURNS = 20;

/** @throws RecordingError */
export async function replayRecording(
  run: Recording,
  make: (first: HeaderLine, desired: DesiredValues) => ReplayDeps,
): Promise<ReplayReport> {
  const replay = new Replay(run, make);
  for await (const recorded of run.events) {
    await replay.event(recorded);
    if (replay.differences.length > 0) break;
  }
  const { events, transactions, differences } = replay;
  return { events, transactions, differences, ending: run.ending() };
}

class Replay {
  events = 0;
  transactions = 0;
  differences: readonly Difference[] = [];
  readonly #path: string;
  readonly #clock: ManualClock;
  readonly #processor: EventProcessor;
  #eventReplay: EventReplay | undefined;

  constructor({ path, header: first }: Recording, make: Parameters<typeof replayRecording>[1]) {
    const desired = new DesiredState();
    const deps = make(first, desired);
    this.#path = path;
    this.#clock = new ManualClock(first.at);
    this.#processor = new EventProcessor(
      {
        config: first.controller,
        handlers: deps.handlers.map((handler) =>
          wrapHandler(handler, (ctx) => this.#currentEvent.context(handler.name, ctx)),
        ),
        desired,
        sink: this.#sink(),
        externalSources: first.sources.map((label) => ({
          label,
          snapshot: async () =>
            this.#currentEvent.answer(sourceName(label), SNAPSHOT_QUESTION) as object as never,
        })),
        merge: (key, base, over) => {
          this.#currentEvent.throwIfRejected(key);
          return deps.merge(key, base, over);
        },
        southboundGeneration: () => this.#currentEvent.southboundGeneration(),
        clock: this.#clock,
        random: seededRandom(0),
        log: silentLogger,
        handlerLog: () => silentLogger,
        print: () => undefined,
      },
      // Follow-ups are compared when they are sent; the recording contains the next event.
      () => undefined,
    );
  }

  async event(recorded: RecordedEvent): Promise<void> {
    const { event: line } = recorded;
    const event = recordedEvent(line, this.#path);
    const comparison = new ReplayComparison(line, event);
    const missing = line.n !== this.#processor.seqNum;
    if (missing) comparison.eventMissing(this.#processor.seqNum);
    this.#eventReplay = new EventReplay(recorded, comparison, this.#clock);
    if (!missing) {
      this.#clock.jump(Math.max(0, line.at - this.#clock.now()));
      const outcome = await this.#runToEnd(
        this.#processor.process({
          event,
          followUpTo: line.followUpTo,
          pushed: this.#clock.monotonic(),
          producer: undefined,
        }),
      );
      if (outcome) {
        this.events++;
        this.#eventReplay.finish();
        comparison.outcome(recorded.end, outcome);
      } else comparison.eventHangs();
    }
    this.differences = comparison.differences;
  }

  get #currentEvent(): EventReplay {
    if (!this.#eventReplay) throw new NotRecordedError('no event is being replayed');
    return this.#eventReplay;
  }

  #sink(): TransactionSink {
    return {
      commit: async (request): Promise<TransactionResult> => {
        this.transactions++;
        const result = this.#currentEvent.commit(request);
        if (!result) throw new NotRecordedError('the recording has no transaction for this event');
        if (result.rejected) throw replayedError(result.rejected);
        const failures = (result.failures ?? []).map((failure) => ({
          ...failure,
          error: replayedError(failure.error),
        }));
        return { seqNum: result.seqNum ?? 0, failures };
      },
      record: () => undefined,
    };
  }

  /** Runs an event and advances the virtual time while it waits; undefined: it does not end. */
  async #runToEnd<T>(processing: Promise<T>): Promise<T | undefined> {
    let over: { readonly result: T } | undefined;
    const watched = processing.then((result) => {
      over = { result };
    });
    for (let passed = 0; passed <= MAX_EVENT_MS; passed += STEP_MS) {
      let quiet = 0;
      for (let seen = -1; !over && quiet < IDLE_TURNS; quiet++) {
        const { activity: signs } = this.#currentEvent;
        if (signs !== seen) quiet = 0;
        seen = signs;
        await this.#clock.turn();
      }
      if (over) {
        await watched;
        return over.result;
      }
      await this.#clock.advance(STEP_MS);
    }
    return undefined;
  }
}

function recordedEvent(line: EventLine, where: string): Event {
  const kind: EventKind | undefined = eventKind(line.kind);
  if (!kind) throw new RecordingError(`this build has no event kind ${line.kind}`, { where });
  if (kind.version !== line.v)
    throw new RecordingError(
      `event kind ${line.kind} has version ${line.v} in the recording and ${kind.version} in this build`,
      { where },
    );
  return { kind, payload: line.payload, ...(line.origin && { origin: line.origin }) };
}
