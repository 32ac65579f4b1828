/**
 * The southbound of a scenario: descriptors made from their description, failures on order. What no
 * scheduler may ask of it is noted in `problems`.
 */
import type { AnyDescriptor, KeyedValue, RetrievedValue } from '#kvscheduler/api/descriptor.ts';
import { type Replies, ReplyLine } from '../support/replies.ts';
import type { Happening, MockDescriptor, PlannedFailure, Standing } from './format.ts';
import { type Canonical, canonical, standingText, valueText } from './notation.ts';

export interface Held {
  readonly value: Canonical;
  readonly number: number | undefined;
  readonly foreign: boolean;
}

type Verb = 'CREATE' | 'UPDATE' | 'DELETE';

export class ScenarioSouthbound {
  readonly #replies: Replies;
  readonly #line = new ReplyLine();
  readonly #values = new Map<string, Held>();
  readonly #failures: PlannedFailure[] = [];
  readonly #nextNumber = new Map<string, number>();
  readonly calls: string[] = [];
  readonly retrieves: string[] = [];
  readonly problems: string[] = [];

  constructor(replies: Replies) {
    this.#replies = replies;
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

  /** All that stands there. */
  content(): Record<string, string> {
    return Object.fromEntries([...this.#values].map(([key, one]) => [key, standingText(one)]));
  }

  /** The base values with a prefix, by key. */
  bases(prefix: string): [string, Held][] {
    return [...this.#values]
      .filter(([key]) => key.startsWith(prefix) && !isDerived(key))
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }

  descriptor(described: MockDescriptor): AnyDescriptor {
    const { name, prefix, firstNumber = 0, baseOnly, recreates = [], blind, after } = described;
    this.#nextNumber.set(name, firstNumber);
    return {
      name,
      keyPrefixes: [prefix],
      ...(baseOnly && { ownsKey: (key: string) => !isDerived(key) }),
      nbKeyPrefix: prefix,
      typeName: `scenario.${name}`,
      label: (key) => labelOf(described, key),
      derived: derivedOf,
      dependencies: (key: string) => dependenciesOf(described, key),
      needsRecreate: (key: string) => recreates.includes(key),
      create: (key: string, value: Canonical) => this.#create(name, key, value),
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

  async #create(name: string, key: string, value: Canonical): Promise<number | undefined> {
    if (this.#values.has(key)) this.problems.push(`CREATE ${key}: it is there`);
    const next = this.#nextNumber.get(name) as number;
    const number = isDerived(key) ? undefined : next;
    await this.#call('CREATE', key, { value, number, foreign: false });
    if (number !== undefined) this.#nextNumber.set(name, next + 1);
    return number;
  }

  /** What the scheduler says is there has to be there. */
  #judge(verb: Verb, key: string, before: Canonical, number: number | undefined): void {
    const standing = this.#values.get(key);
    const is = standing && standingText(standing);
    const told = standingText({ value: before, number, foreign: false });
    if (is !== told) this.problems.push(`${verb} ${key}: told ${told}, is ${is}`);
  }

  async #call(verb: Verb, key: string, result: Held | undefined): Promise<void> {
    const call = `${verb} ${key}`;
    this.calls.push(call);
    await this.#line.wait(this.#replies);
    const index = this.#failures.findIndex((failure) => failure.call === call);
    for (const { leaves = {}, error } of index < 0 ? [] : this.#failures.splice(index, 1)) {
      this.happens(leaves);
      throw new Error(error);
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
    await this.#line.wait(this.#replies);
    return this.bases(prefix).map(([key, { value, number, foreign }]) => ({
      key,
      value,
      metadata: number,
      origin: foreign ? 'from-SB' : 'from-NB',
    }));
  }
}

export function labelOf({ prefix }: MockDescriptor, key: string): string {
  return key.slice(prefix.length);
}

function derivedOf(key: string, { items = [] }: Canonical): KeyedValue[] {
  return items.map((item) => {
    const [own = item, text = own] = item.split('=');
    return { key: `${key}/${own}`, value: { text } };
  });
}

export function dependenciesOf({ needs = {} }: MockDescriptor, key: string) {
  return (needs[key] ?? []).map((label) =>
    label.endsWith('/') ? { label, anyOf: { prefixes: [label] } } : { label, key: label },
  );
}

function held({ value, number, foreign = false }: Standing): Held {
  return { value: canonical(value), number, foreign };
}

function isDerived(key: string): boolean {
  return key.split('/').length > 2;
}
