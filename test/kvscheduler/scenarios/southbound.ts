/**
 * The southbound of a scenario: descriptors by their description, and planned failures. Calls that
 * break a rule are recorded in `problems`.
 */
import type { AnyDescriptor, KeyedValue, RetrievedValue } from '#kvscheduler/api/descriptor.ts';
import { type Replies, ReplyLine } from '../support/replies.ts';
import type {
  MockDescriptor,
  MockStoredValue,
  PlannedFailure,
  SouthboundChange,
} from './format.ts';
import { type Canonical, canonical, storedText, valueText } from './notation.ts';

export interface StoredValue {
  readonly value: Canonical;
  readonly number: number | undefined;
  readonly unmanaged: boolean;
}

type Verb = 'CREATE' | 'UPDATE' | 'DELETE';

export class ScenarioSouthbound {
  readonly #replies: Replies;
  readonly #line = new ReplyLine();
  readonly #values = new Map<string, StoredValue>();
  readonly #failures: PlannedFailure[] = [];
  readonly #nextNumber = new Map<string, number>();
  readonly calls: string[] = [];
  readonly retrieves: string[] = [];
  readonly problems: string[] = [];

  constructor(replies: Replies) {
    this.#replies = replies;
  }

  apply(happening: SouthboundChange): void {
    for (const [key, value] of Object.entries(happening))
      if (value) this.#values.set(key, stored(value));
      else this.#values.delete(key);
  }

  planFailures(failures: readonly PlannedFailure[]): void {
    this.#failures.push(...failures);
  }

  /** Planned failures that no call had. */
  get unmet(): readonly string[] {
    return this.#failures.map(({ call }) => call);
  }

  /** All values, as text. */
  content(): Record<string, string> {
    return Object.fromEntries([...this.#values].map(([key, one]) => [key, storedText(one)]));
  }

  /** The base values with a prefix, by key. */
  bases(prefix: string): [string, StoredValue][] {
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
        this.#check('UPDATE', key, before, number);
        await this.#call('UPDATE', key, { value, number, unmanaged: false });
        return number;
      },
      delete: async (key: string, before: Canonical, number: number) => {
        this.#check('DELETE', key, before, number);
        await this.#call('DELETE', key, undefined);
      },
      ...(!blind && {
        retrieve: (correlate: readonly KeyedValue[]) => this.#retrieve(described, correlate),
      }),
      ...(after && { retrieveDependencies: after }),
    };
  }

  async #create(name: string, key: string, value: Canonical): Promise<number | undefined> {
    if (this.#values.has(key)) this.problems.push(`CREATE ${key}: it exists`);
    const next = this.#nextNumber.get(name) as number;
    const number = isDerived(key) ? undefined : next;
    await this.#call('CREATE', key, { value, number, unmanaged: false });
    if (number !== undefined) this.#nextNumber.set(name, next + 1);
    return number;
  }

  /** The value that the scheduler passes must be the actual one. */
  #check(verb: Verb, key: string, before: Canonical, number: number | undefined): void {
    const actual = this.#values.get(key);
    const actualText = actual && storedText(actual);
    const passed = storedText({ value: before, number, unmanaged: false });
    if (actualText !== passed)
      this.problems.push(`${verb} ${key}: got ${passed}, but it is ${actualText}`);
  }

  async #call(verb: Verb, key: string, result: StoredValue | undefined): Promise<void> {
    const call = `${verb} ${key}`;
    this.calls.push(call);
    await this.#line.wait(this.#replies);
    const index = this.#failures.findIndex((failure) => failure.call === call);
    for (const { leaves = {}, error } of index < 0 ? [] : this.#failures.splice(index, 1)) {
      this.apply(leaves);
      throw new Error(error);
    }
    if (result) this.#values.set(key, result);
    else this.#values.delete(key);
  }

  async #retrieve(
    { name, prefix }: MockDescriptor,
    correlate: readonly KeyedValue[],
  ): Promise<RetrievedValue[]> {
    const known = correlate.map(({ key, value }) => `${key} ${valueText(value)}`).sort();
    this.retrieves.push(`${name}: ${known.join(', ')}`);
    await this.#line.wait(this.#replies);
    return this.bases(prefix).map(([key, { value, number, unmanaged }]) => ({
      key,
      value,
      metadata: number,
      origin: unmanaged ? 'from-SB' : 'from-NB',
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

function stored({ value, number, unmanaged = false }: MockStoredValue): StoredValue {
  return { value: canonical(value), number, unmanaged };
}

function isDerived(key: string): boolean {
  return key.split('/').length > 2;
}
