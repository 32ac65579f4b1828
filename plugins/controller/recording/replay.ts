/**
 * Runs the events of a recording through event handlers, with the recorded answers in place of the
 * ports, and holds what they want against what was committed then. Time is virtual, so a replay
 * takes no longer than its handlers need.
 */

import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { TransactionResult, TransactionSink } from '#kvscheduler/api/transaction.ts';
import { type Event, type EventKind, eventKind } from '../api/event.ts';
import type { EventHandler } from '../api/event-handler.ts';
import type { ConfigRetriever } from '../api/events.ts';
import type { MergeValues } from '../caches.ts';
import { EventProcessor } from '../process-event.ts';
import { Comparison, type Difference } from './comparison.ts';
import { NotRecordedError, RecordingError, replayedError } from './errors.ts';
import type { EventLine, RunLine } from './format.ts';
import { Playback } from './playback.ts';
import type { RecordedEvent, RecordedRun } from './read-run.ts';
import { SNAPSHOT, sourceName } from './recorder.ts';
import { tapHandler } from './tap.ts';

/** What a replay needs of the build, made anew from what the recording says. */
export interface ReplayedParts {
  readonly handlers: readonly EventHandler[];
  readonly merge: MergeValues;
}

export interface ReplayReport {
  /** Events that were replayed. */
  readonly events: number;
  readonly transactions: number;
  /** All of the first event in which something differs; empty: none does. */
  readonly differences: readonly Difference[];
  /** Why the recording is shorter than the run. */
  readonly ending: string | undefined;
}

/** Virtual time that an event may take whose handlers wait for something that never comes. */
const LONGEST_MS = 600_000;
const STEP_MS = 1000;
/** Turns without any sign of life after which time is moved on. */
const QUIET_TURNS = 20;

/** @throws RecordingError */
export async function replayRun(
  run: RecordedRun,
  make: (first: RunLine, wanted: ConfigRetriever) => ReplayedParts,
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
  #playback: Playback | undefined;

  constructor({ path, first }: RecordedRun, make: Parameters<typeof replayRun>[1]) {
    const parts = make(first, { getConfig: (key) => this.#processor.getConfig(key) });
    this.#path = path;
    this.#clock = new ManualClock(first.at);
    this.#processor = new EventProcessor(
      {
        config: first.controller,
        handlers: parts.handlers.map((handler) =>
          tapHandler(handler, (ctx) => this.#now.context(handler.name, ctx)),
        ),
        sink: this.#sink(),
        externalSources: first.sources.map((label) => ({
          label,
          snapshot: async () => this.#now.answer(sourceName(label), SNAPSHOT) as object as never,
        })),
        merge: parts.merge,
        southboundLife: () => this.#now.life(),
        clock: this.#clock,
        random: seededRandom(0),
        log: silentLogger,
        print: () => undefined,
      },
      // Follow-ups are compared where they are sent; what ran next stands in the recording.
      () => undefined,
    );
  }

  async event(recorded: RecordedEvent): Promise<void> {
    const { event: line } = recorded;
    const event = revived(line, this.#path);
    const comparison = new Comparison(line, event);
    const missing = line.n !== this.#processor.seqNum;
    if (missing) comparison.missing(this.#processor.seqNum);
    this.#playback = new Playback(recorded, comparison, this.#clock);
    if (!missing) {
      this.#clock.jump(Math.max(0, line.at - this.#clock.now()));
      const outcome = await this.#untilOver(
        this.#processor.process({
          event,
          followUpTo: line.followUpTo,
          pushed: this.#clock.monotonic(),
          producer: undefined,
        }),
      );
      if (outcome) {
        this.events++;
        this.#playback.over();
        comparison.outcome(recorded.end, outcome);
      } else comparison.stuck();
    }
    this.differences = comparison.differences;
  }

  get #now(): Playback {
    if (!this.#playback) throw new NotRecordedError('nothing is replayed now');
    return this.#playback;
  }

  #sink(): TransactionSink {
    return {
      commit: async (request): Promise<TransactionResult> => {
        this.transactions++;
        const result = this.#now.commit(request);
        if (!result) throw new NotRecordedError('nothing was committed here');
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

  /** Lets an event run, moving time on while everybody waits for it; undefined: it never ends. */
  async #untilOver<T>(processing: Promise<T>): Promise<T | undefined> {
    let over: { readonly result: T } | undefined;
    const watched = processing.then((result) => {
      over = { result };
    });
    for (let passed = 0; passed <= LONGEST_MS; passed += STEP_MS) {
      let quiet = 0;
      for (let seen = -1; !over && quiet < QUIET_TURNS; quiet++) {
        const { signs } = this.#now;
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

function revived(line: EventLine, where: string): Event {
  const kind: EventKind | undefined = eventKind(line.kind);
  if (!kind) throw new RecordingError(`this build has no event ${line.kind}`, { where });
  if (kind.version !== line.v)
    throw new RecordingError(
      `event ${line.kind} has version ${line.v}, in this build ${kind.version}`,
      { where },
    );
  return { kind, payload: line.payload, ...(line.origin && { origin: line.origin }) };
}
