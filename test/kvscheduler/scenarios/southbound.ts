/**
 * The southbound of a scenario: descriptors made from their description, failures on order. What no
 * scheduler may ask of it is noted in `problems`.
 */
import assert from 'node:assert/strict';
import type { Clock } from '#infra/clock/clock.ts';
import type { AnyDescriptor, KeyedValue, RetrievedValue } from '#kvscheduler/api.ts';
import type { Happening, MockDescriptor, PlannedFailure, Standing } from './format.ts';
import { type Canonical, canonical, standingText, valueText } from './notation.ts';

interface Held {
  readonly value: Canonical;
  readonly number?: number | undefined;
  readonly foreign: boolean;
}

type Verb = 'CREATE' | 'UPDATE' | 'DELETE';

export class ScenarioSouthbound {
  readonly #clock: Clock;
  /** Replies come a turn later, so that calls overlap. */
  readonly #late: boolean;
  readonly #values = new Map<string, Held>();
  readonly #failures: PlannedFailure[] = [];
  readonly #nextNumber = new Map<string, number>();
  readonly calls: string[] = [];
  readonly retrieves: string[] = [];
  readonly problems: string[] = [];

  constructor(clock: Clock, late: boolean) {
    this.#clock = clock;
    this.#late = late;
  }

  happens(happening: Happening): void {
    for (const [key, standing] of Object.entries(happening))
      if (standing) this.#values.set(key, held(standing));
      else this.#values.delete(key);
  }

  fails(failures: readonly PlannedFailure[]): void {
    this.#failures.push(...failures);
  }

  /** Failures that nobody has run into. */
  get unmet(): readonly string[] {
    return this.#failures.map(({ call }) => call);
  }

  /** All that stands there, by key. */
  content(): Record<string, string> {
    const lines = [...this.#values].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(
      lines.map(
        ([
          key,
          {
            value: { items, text = '' },
            number,
            foreign,
          },
        ]) => [
          key,
          standingText({
            value: items ?? text,
            ...(number !== undefined && { number }),
            ...(foreign && { foreign }),
          }),
        ],
      ),
    );
  }

  /** Key, value and metadata of the base values with a prefix. */
  *bases(prefix: string): Generator<[string, Held], void, void> {
    for (const [key, standing] of this.#values)
      if (key.startsWith(prefix) && !isDerived(key)) yield [key, standing];
  }

  descriptor(described: MockDescriptor): AnyDescriptor {
    const { name, prefix, baseOnly, needs = {}, recreates = [], blind, after } = described;
    const numberFor = (key: string): number | undefined =>
      isDerived(key) ? undefined : (this.#nextNumber.get(name) ?? 0);
    return {
      name,
      keyPrefixes: [prefix],
      ...(baseOnly && { ownsKey: (key: string) => !isDerived(key) }),
      nbKeyPrefix: prefix,
      typeName: `scenario.${name}`,
      label: (key) => key.slice(prefix.length),
      derived: (key: string, { items = [] }: Canonical): KeyedValue[] =>
        items.map((item) => {
          const [own = item, text = own] = item.split('=');
          return { key: `${key}/${own}`, value: { text } };
        }),
      dependencies: (key: string) =>
        (needs[key] ?? []).map((label) =>
          label.endsWith('/') ? { label, anyOf: { prefixes: [label] } } : { label, key: label },
        ),
      needsRecreate: (key: string) => recreates.includes(key),
      create: async (key: string, value: Canonical) => {
        if (this.#values.has(key)) this.problems.push(`CREATE ${key}: it is there`);
        const number = numberFor(key);
        await this.#call('CREATE', key, { value, number, foreign: false });
        if (number !== undefined) this.#nextNumber.set(name, number + 1);
        return number;
      },
      update: async (key: string, before: Canonical, value: Canonical, number: number) => {
        this.#judge('UPDATE', key, before, number);
        await this.#call('UPDATE', key, { value, number, foreign: false });
        return number;
      },
      delete: async (key: string, before: Canonical, number: number) => {
        this.#judge('DELETE', key, before, number);
        await this.#call('DELETE', key, undefined);
      },
      ...(!blind && {
        retrieve: (correlate: readonly KeyedValue[]) => this.#retrieve(described, correlate),
      }),
      ...(after && { retrieveDependencies: after }),
    };
  }

  #judge(verb: Verb, key: string, before: Canonical, number: number | undefined): void {
    const standing = this.#values.get(key);
    const is = standing && `${valueText(standing.value)} #${standing.number}`;
    const told = `${valueText(before)} #${number}`;
    if (is !== told) this.problems.push(`${verb} ${key}: told ${told}, is ${is}`);
  }

  async #call(verb: Verb, key: string, result: Held | undefined): Promise<void> {
    const call = `${verb} ${key}`;
    this.calls.push(call);
    if (this.#late) await this.#clock.turn();
    const index = this.#failures.findIndex((failure) => failure.call === call);
    const [failure] = index < 0 ? [] : this.#failures.splice(index, 1);
    if (failure) {
      this.happens(failure.leaves ?? {});
      throw new Error(failure.error);
    }
    if (result) this.#values.set(key, result);
    else this.#values.delete(key);
  }

  async #retrieve(
    { name, prefix }: MockDescriptor,
    correlate: readonly KeyedValue[],
  ): Promise<RetrievedValue[]> {
    const told = correlate.map(({ key, value }) => `${key} ${valueText(value)}`).sort();
    this.retrieves.push(`${name}: ${told.join(', ')}`);
    if (this.#late) await this.#clock.turn();
    return [...this.bases(prefix)].map(([key, { value, number, foreign }]) => ({
      key,
      value,
      metadata: number,
      origin: foreign ? 'from-SB' : 'from-NB',
    }));
  }
}

function held({ value, number, foreign = false }: Standing): Held {
  return { value: canonical(value), number, foreign };
}

function isDerived(key: string): boolean {
  const parts = key.split('/').length;
  assert.ok(parts === 2 || parts === 3, key);
  return parts === 3;
}
