import type { Clock, Random } from '#infra/clock/clock.ts';
import type { TransactionRequest } from '#kvscheduler/api/transaction.ts';
import type { Event } from '../api/event.ts';
import type { Comparison } from './comparison.ts';
import { NotRecordedError, replayedError } from './errors.ts';
import type { AnswerLine, FollowUpLine, RecordedEventData, ResultLine } from './format.ts';
import type { RecordedEvent } from './read-run.ts';
import { data, transaction } from './recorder.ts';
import type { AnyContext, Tapped } from './tap.ts';

/** Hands one recorded event to the handlers, bit by bit as they ask, and notes what differs. */
export class Playback {
  readonly #recorded: RecordedEvent;
  readonly #comparison: Comparison;
  readonly #clock: Clock;
  readonly #answers: AnswerLine[];
  readonly #followUps: FollowUpLine[];
  readonly #lives: (number | null)[];
  readonly #readings = new Map<string, HandlerReadings>();
  #isCommitted = false;
  /** Grows while something goes on. */
  signs = 0;

  constructor(recorded: RecordedEvent, comparison: Comparison, clock: Clock) {
    this.#recorded = recorded;
    this.#comparison = comparison;
    this.#clock = clock;
    this.#answers = [...recorded.answers];
    this.#followUps = [...recorded.followUps];
    this.#lives = [...recorded.end.lives];
  }

  life(): number | undefined {
    return this.#lives.shift() ?? undefined;
  }

  context<C extends AnyContext>(of: string, ctx: C): Tapped<C> {
    const readings = this.#readingsOf(of);
    const tapped: C = {
      ...ctx,
      clock: this.#clockOf(readings),
      random: readings.random,
      ask: <T>(question: string): Promise<T> =>
        ctx.ask(question, () => this.answer(of, question) as Promise<T>),
      ...('followUp' in ctx && { followUp: (event: Event) => this.#followUp(of, event) }),
    };
    return { ctx: tapped, end: () => undefined };
  }

  /**
   * The answer to a question, or its error. When something else was asked then, the handler gets
   * the answer to that, so that the transaction shows what the difference leads to.
   */
  async answer(of: string, question: string): Promise<unknown> {
    this.signs++;
    let at = this.#answers.findIndex((each) => each.of === of && each.question === question);
    if (at < 0) {
      at = this.#answers.findIndex((each) => each.of === of);
      // A port that never answered stays silent: the handler hangs as it did then.
      if (at < 0 && this.#recorded.end.fatal) return await new Promise(() => undefined);
      this.#comparison.question(of, this.#answers[at]?.question, question);
    }
    const [line] = at < 0 ? [] : this.#answers.splice(at, 1);
    if (!line)
      throw new NotRecordedError('this was not asked then', { where: `${of}, ${question}` });
    if (line.error) throw replayedError(line.error);
    return line.answer;
  }

  commit(request: TransactionRequest): ResultLine | undefined {
    this.signs++;
    this.#isCommitted = true;
    this.#comparison.transaction(this.#recorded.commit, transaction(request));
    return this.#recorded.result;
  }

  /** The event has ended: what is left was said then and is not said now. */
  over(): void {
    if (!this.#isCommitted) this.#comparison.transaction(this.#recorded.commit, undefined);
    for (const { of, question } of this.#answers)
      this.#comparison.question(of, question, undefined);
    for (const line of this.#followUps) this.#comparison.followUp(line.of, dataOf(line), undefined);
  }

  #followUp(of: string, event: Event): void {
    this.signs++;
    const at = this.#followUps.findIndex((each) => each.of === of);
    const [line] = at < 0 ? [] : this.#followUps.splice(at, 1);
    this.#comparison.followUp(of, line && dataOf(line), data(event));
  }

  #clockOf(readings: HandlerReadings): Clock {
    const clock = this.#clock;
    const sign = (): void => {
      this.signs++;
    };
    return {
      now: () => readings.now(clock),
      monotonic: () => readings.monotonic(clock),
      timer: (ms, callback) => clock.timer(ms, callback),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      turn: () => {
        sign();
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

function dataOf({ kind, v, payload, origin }: FollowUpLine): RecordedEventData {
  return { kind, v, payload, ...(origin && { origin }) };
}

/** What one handler reads off clock and chance during one event. */
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
        throw new NotRecordedError('more chance is asked for than then', { where: of });
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
