import { errorText } from '#infra/errors/errors.ts';
import type { Event } from '../api/event.ts';
import type { Outcome } from '../event-processor.ts';
import { asJson, type FieldDifference, firstDifference } from './json-difference.ts';
import type {
  EndLine,
  EventLine,
  RecordedEventData,
  RecordedTransaction,
} from './recording-format.ts';

/** A difference between the recording and the replay. */
export interface Difference extends FieldDifference {
  readonly event: { readonly n: number; readonly name: string };
  readonly what: 'event' | 'transaction' | 'question' | 'follow-up' | 'outcome';
  /** The handler that called the port or sent the follow-up. */
  readonly handler?: string;
  /** Key of the value in the transaction. */
  readonly key?: string;
}

type Found = Omit<Difference, 'event'>;

/** Collects the differences of one event, those of the transaction first. */
export class ReplayComparison {
  readonly #event: Difference['event'];
  readonly #transaction: Difference[] = [];
  readonly #other: Difference[] = [];

  constructor({ n }: EventLine, { kind, payload }: Event) {
    this.#event = { n, name: kind.name(payload) };
  }

  get differences(): readonly Difference[] {
    return [...this.#transaction, ...this.#other];
  }

  eventMissing(n: number): void {
    this.#add({
      what: 'event',
      field: '',
      recorded: `event #${n} is missing before this one`,
      replayed: undefined,
    });
  }

  eventHangs(): void {
    this.#add({ what: 'event', field: '', recorded: 'has ended', replayed: 'does not end' });
  }

  transaction(
    recorded: RecordedTransaction | undefined,
    replayed: RecordedTransaction | undefined,
  ): void {
    const what = 'transaction';
    const before = recorded?.values ?? {};
    const after = replayed?.values ?? {};
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    for (const key of keys) {
      const found = firstDifference(before[key], asJson(after[key]));
      if (found) this.#add({ what, key, ...found });
    }
    if (recorded && replayed) {
      for (const field of ['mode', 'onFailure', 'retry', 'description'] as const) {
        const found = firstDifference(recorded[field], asJson(replayed[field]), field);
        if (found) this.#add({ what, ...found });
      }
    } else if (recorded !== replayed && keys.size === 0)
      this.#add({ what, field: '', recorded: recorded?.mode, replayed: replayed?.mode });
  }

  question(handler: string, recorded: string | undefined, replayed: string | undefined): void {
    this.#add({ what: 'question', handler, field: '', recorded, replayed });
  }

  followUp(
    handler: string,
    recorded: RecordedEventData | undefined,
    replayed: RecordedEventData | undefined,
  ): void {
    const found = firstDifference(recorded, asJson(replayed));
    if (found) this.#add({ what: 'follow-up', handler, ...found });
  }

  outcome(recorded: EndLine, { error, fatal, needsHealing }: Outcome): void {
    const then = {
      error: recorded.error,
      fatal: recorded.fatal,
      needsHealing: recorded.needsHealing,
    };
    const now = { error: error && errorText(error), fatal: fatal !== undefined, needsHealing };
    const found = firstDifference(then, now);
    if (found) this.#add({ what: 'outcome', ...found });
  }

  #add(found: Found): void {
    const list = found.what === 'transaction' ? this.#transaction : this.#other;
    list.push({ event: this.#event, ...found });
  }
}
