import type { Clock, Random } from '#infra/clock/clock.ts';
import type { TransactionRequest } from '#kvscheduler/api/transaction.ts';
import type { Event } from '../api/event.ts';
import { NotRecordedError, replayedError } from './errors.ts';
import type { AnyContext, WrappedContext } from './handler-wrapper.ts';
import { eventData, MERGE, transactionData } from './recorder.ts';
import type {
  AnswerLine,
  FollowUpLine,
  RecordedEventData,
  ResultLine,
} from './recording-format.ts';
import type { RecordedEvent } from './recording-reader.ts';
import type { ReplayComparison } from './replay-comparison.ts';

/** Replays one recorded event: answers port calls from the recording and collects the differences. */
export class EventReplay {
  readonly #recorded: RecordedEvent;
  readonly #comparison: ReplayComparison;
  readonly #clock: Clock;
  readonly #answers: AnswerLine[];
  readonly #followUps: FollowUpLine[];
  readonly #generations: (number | null)[];
  readonly #readings = new Map<string, HandlerReadings>();
  #committed = false;
  /** Increases with each action of a handler. */
  activity = 0;

  constructor(recorded: RecordedEvent, comparison: ReplayComparison, clock: Clock) {
    this.#recorded = recorded;
    this.#comparison = comparison;
    this.#clock = clock;
    this.#answers = [...recorded.answers];
    this.#followUps = [...recorded.followUps];
    this.#generations = [...recorded.end.lives];
  }

  southboundGeneration(): number | undefined {
    return this.#generations.shift() ?? undefined;
  }

  context<C extends AnyContext>(of: string, ctx: C): WrappedContext<C> {
    const readings = this.#readingsOf(of);
    const wrapped: C = {
      ...ctx,
      clock: this.#clockOf(readings),
      random: readings.random,
      callPort: <T>(question: string): Promise<T> =>
        ctx.callPort(question, () => this.answer(of, question) as Promise<T>),
      ...('followUp' in ctx && { followUp: (event: Event) => this.#followUp(of, event) }),
    };
    return { ctx: wrapped, end: () => undefined };
  }

  /**
   * The recorded answer to a port call, or its error. If the recording has a different call, its
   * answer is used, so that the transaction shows the consequence of the difference.
   */
  async answer(of: string, question: string): Promise<unknown> {
    this.activity++;
    let at = this.#answers.findIndex((each) => each.of === of && each.question === question);
    if (at < 0) {
      at = this.#answers.findIndex((each) => each.of === of);
      // The recorded call never returned: the handler hangs as it did in the recording.
      if (at < 0 && this.#recorded.end.fatal) return await new Promise(() => undefined);
      this.#comparison.question(of, this.#answers[at]?.question, question);
    }
    const [line] = at < 0 ? [] : this.#answers.splice(at, 1);
    if (!line)
      throw new NotRecordedError('the recording has no such port call', {
        where: `${of}, ${question}`,
      });
    if (line.error) throw replayedError(line.error);
    return line.answer;
  }

  /** @throws the recorded error, if the external value of the key could not be merged */
  throwIfRejected(key: string): void {
    const at = this.#answers.findIndex(({ of, question }) => of === MERGE && question === key);
    const [line] = at < 0 ? [] : this.#answers.splice(at, 1);
    if (line?.error) throw replayedError(line.error);
  }

  commit(request: TransactionRequest): ResultLine | undefined {
    this.activity++;
    this.#committed = true;
    this.#comparison.transaction(this.#recorded.commit, transactionData(request));
    return this.#recorded.result;
  }

  /** Called when the event has ended: the remaining recorded lines are differences. */
  finish(): void {
    if (!this.#committed) this.#comparison.transaction(this.#recorded.commit, undefined);
    for (const { of, question } of this.#answers)
      this.#comparison.question(of, question, undefined);
    for (const line of this.#followUps)
      this.#comparison.followUp(line.of, followUpData(line), undefined);
  }

  #followUp(of: string, event: Event): void {
    this.activity++;
    const at = this.#followUps.findIndex((each) => each.of === of);
    const [line] = at < 0 ? [] : this.#followUps.splice(at, 1);
    this.#comparison.followUp(of, line && followUpData(line), eventData(event));
  }

  #clockOf(readings: HandlerReadings): Clock {
    const clock = this.#clock;
    const countActivity = (): void => {
      this.activity++;
    };
    return {
      now: () => readings.now(clock),
      wallTime: () => clock.wallTime(),
      monotonic: () => readings.monotonic(clock),
      timer: (ms, callback) => clock.timer(ms, callback),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      turn: () => {
        countActivity();
        return clock.turn();
      },
    };
  }

  #readingsOf(of: string): HandlerReadings {
    let readings = this.#readings.get(of);
    if (!readings) {
      readings = new HandlerReadings(
        of,
        this.#recorded.readings.filter((line) => line.of === of),
      );
      this.#readings.set(of, readings);
    }
    return readings;
  }
}

function followUpData({ kind, v, payload, origin }: FollowUpLine): RecordedEventData {
  return { kind, v, payload, ...(origin && { origin }) };
}

/** Recorded values of clock and random source for one handler and one event. */
class HandlerReadings {
  readonly random: Random;
  readonly #now: number[];
  readonly #monotonic: number[];

  constructor(of: string, lines: RecordedEvent['readings']) {
    this.#now = lines.flatMap(({ now = [] }) => now);
    this.#monotonic = lines.flatMap(({ monotonic = [] }) =>
      monotonic.flatMap(([ms, times]) => Array.from({ length: times }, () => ms)),
    );
    this.#now.reverse();
    this.#monotonic.reverse();
    const numbers = lines.flatMap(({ random = [] }) => random).reverse();
    const next = (): number | string => {
      const value = numbers.pop();
      if (value === undefined)
        throw new NotRecordedError('the handler reads more random values than in the recording', {
          where: of,
        });
      return value;
    };
    this.random = {
      next: () => Number(next()),
      bytes: () => Buffer.from(String(next()), 'base64'),
    };
  }

  now(clock: Clock): number {
    return this.#now.pop() ?? clock.now();
  }

  monotonic(clock: Clock): number {
    return this.#monotonic.pop() ?? clock.monotonic();
  }
}
