/**
 * A southbound of data: a value specifies its own dependencies, derived values, claims and failures.
 * Every operation that breaks a rule is recorded in `violations`.
 */
import type {
  AnyDescriptor,
  Dependency,
  KeyedValue,
  Leftover,
  OperationContext,
  RetrieveContext,
  RetrievedValue,
} from '#kvscheduler/api/descriptor.ts';
import { InvalidValueError } from '#kvscheduler/api/descriptor.ts';
import { type Replies, ReplyLine } from './replies.ts';

export interface Spec {
  /** Distinguishes values. */
  readonly v: number;
  /** Keys that it depends on, all of them. */
  readonly needs?: readonly string[];
  /** Prefixes of which some key must exist, one dependency each. */
  readonly any?: readonly string[];
  readonly derives?: Readonly<Record<string, Spec>>;
  readonly claims?: readonly string[];
  readonly invalid?: boolean;
  /** A change to or from it is a delete and a create. */
  readonly recreate?: boolean;
}

export type Verb = 'CREATE' | 'UPDATE' | 'DELETE';

interface StoredValue {
  readonly spec: Spec;
  readonly managed: boolean;
}

interface OperationInFlight {
  readonly verb: Verb;
  readonly before: Spec | undefined;
  readonly after: Spec | undefined;
}

export class Southbound {
  readonly values = new Map<string, StoredValue>();
  /** `VERB key`, in the order of the calls. */
  readonly calls: string[] = [];
  readonly violations: string[] = [];
  /** Keys that each retrieve got to correlate, and those that it was restricted to. */
  readonly retrieves: { descriptor: string; keys: string[]; only: string[] | undefined }[] = [];
  readonly flights = new Map<string, OperationInFlight>();
  /** Off for very many values: the search for cycles is slow. */
  checksRules = true;
  /** The most operations that were in flight at once. */
  mostInFlight = 0;
  /** Fails an operation: the returned error is thrown instead of executing it. */
  fails: (verb: Verb, key: string, spec: Spec) => Error | undefined = () => undefined;
  /** Fails an operation after it was executed. */
  losesReply: (verb: Verb, key: string) => Error | undefined = () => undefined;
  removalFails: (path: string) => Error | undefined = () => undefined;
  retrieveFails: (descriptor: string) => Error | undefined = () => undefined;
  /** Leftovers, by the prefix of the descriptor and the name. */
  readonly leftovers = new Map<string, Omit<Leftover, 'name' | 'remove'>>();
  /** Keys of values that are found to be broken, with the reason. */
  readonly broken = new Map<string, string>();
  /** Called before each retrieve. */
  beforeRetrieve: (descriptor: string) => void = () => undefined;
  replies: Replies = 'now';
  /** Replies wait for this. */
  repliesAfter: Promise<void> | undefined;
  /** Called for every operation before its rules are checked. */
  onCall: (verb: Verb, key: string, context: OperationContext) => void = () => undefined;
  readonly #line = new ReplyLine();
  #nextMetadata = 1;
  readonly #metadata = new Map<string, number>();

  descriptors(): AnyDescriptor[] {
    const base = {
      ...this.#descriptor('alpha', 'a/'),
      nbKeyPrefix: 'a/',
    };
    const alwaysRecreates = this.#descriptor('beta', 'b/');
    delete (alwaysRecreates as { update?: unknown }).update;
    const derived = this.#descriptor('derived', 'd/');
    delete (derived as { retrieve?: unknown }).retrieve;
    return [
      base,
      { ...alwaysRecreates, nbKeyPrefix: 'b/', retrieveDependencies: ['alpha'] },
      derived,
    ];
  }

  /** The managed values at the last `takeSnapshot`. */
  snapshot: ReadonlyMap<string, Spec> = new Map();

  takeSnapshot(): void {
    const managed = [...this.values].filter(([, stored]) => stored.managed);
    this.snapshot = new Map(managed.map(([key, { spec }]) => [key, spec]));
  }

  /** Another component changes a value. */
  changeExternally(key: string, spec: Spec | null): void {
    if (spec === null) this.values.delete(key);
    else this.values.set(key, { spec, managed: false });
  }

  /** Another component changes the metadata of a value. */
  renumber(key: string, metadata: number): void {
    this.#metadata.set(key, metadata);
  }

  /** All values, as text that can be compared. */
  contents(): Record<string, string> {
    const lines = [...this.values].map(([key, { spec, managed }]): [string, string] => [
      key,
      `${managed ? '' : 'foreign '}${identity(spec)}`,
    ]);
    return Object.fromEntries(lines.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  takeCalls(): string[] {
    return this.calls.splice(0);
  }

  #descriptor(name: string, prefix: string): AnyDescriptor {
    return {
      name,
      keyPrefixes: [prefix],
      typeName: `test.${name}`,
      label: (key) => key.slice(2),
      metadataFields: (metadata: number) => ({ number: [String(metadata)] }),
      equivalent: (_key: string, a: Spec, b: Spec) => identity(a) === identity(b),
      validate: (key: string, { invalid }: Spec) => {
        if (invalid) throw new InvalidValueError('is bad', { where: key, fields: ['invalid'] });
      },
      needsRecreate: (_key: string, a: Spec, b: Spec) => Boolean(a.recreate || b.recreate),
      derived: (_key: string, { derives = {} }: Spec): KeyedValue[] =>
        // New objects each time, as with real descriptors.
        Object.entries(derives).map(([key, value]) => ({ key, value: { ...value } })),
      dependencies: (_key: string, spec: Spec) => dependenciesOf(spec),
      claims: (_key: string, { claims = [] }: Spec) => claims,
      create: (key: string, spec: Spec, context: OperationContext) =>
        this.#call('CREATE', key, undefined, spec, context),
      update: (key: string, a: Spec, b: Spec, _metadata: number, context: OperationContext) =>
        this.#call('UPDATE', key, a, b, context),
      delete: async (key: string, spec: Spec, _metadata: number, context: OperationContext) => {
        await this.#call('DELETE', key, spec, undefined, context);
      },
      retrieve: (correlate, context) => this.#retrieve(name, prefix, correlate, context),
    };
  }

  async #call(
    verb: Verb,
    key: string,
    before: Spec | undefined,
    after: Spec | undefined,
    context: OperationContext,
  ): Promise<number> {
    this.calls.push(`${verb} ${key}`);
    this.onCall(verb, key, context);
    if (this.checksRules) this.#checkRules(verb, key, before, after);
    this.flights.set(key, { verb, before, after });
    this.mostInFlight = Math.max(this.mostInFlight, this.flights.size);
    const failure = this.fails(verb, key, (after ?? before) as Spec);
    const lost = this.losesReply(verb, key);
    if (this.repliesAfter) await this.repliesAfter;
    await this.#line.wait(this.replies);
    this.flights.delete(key);
    if (failure) throw failure;
    this.broken.delete(key);
    if (after) this.values.set(key, { spec: after, managed: true });
    else this.values.delete(key);
    if (lost) throw lost;
    if (verb === 'CREATE') this.#metadata.set(key, this.#nextMetadata++);
    return this.#metadata.get(key) ?? 0;
  }

  async #retrieve(
    name: string,
    prefix: string,
    correlate: readonly KeyedValue[],
    context: RetrieveContext,
  ): Promise<RetrievedValue[]> {
    const keys = correlate.map(({ key }) => key).sort();
    const only = context.only && [...context.only].sort();
    this.retrieves.push({ descriptor: name, keys, only });
    await this.#line.wait(this.replies);
    this.beforeRetrieve(name);
    const failure = this.retrieveFails(name);
    if (failure) throw failure;
    for (const [path, leftover] of this.leftovers) {
      if (!path.startsWith(prefix)) continue;
      const remove = async (): Promise<void> => {
        this.calls.push(`REMOVE ${path}`);
        await this.#line.wait(this.replies);
        const failed = this.removalFails(path);
        if (failed) throw failed;
        this.leftovers.delete(path);
      };
      context.leftover({ ...leftover, name: path.slice(prefix.length), remove });
    }
    return [...this.values]
      .filter(([key]) => key.startsWith(prefix))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, { spec, managed }]) => ({
        key,
        value: this.#asFound(key, spec),
        metadata: this.#metadata.get(key),
        origin: managed ? 'from-NB' : 'from-SB',
        // What shows the fault may belong to values that are not read.
        broken: only ? undefined : this.broken.get(key),
      }));
  }

  /** A base value contains its actual derived values. Properties are part of their base. */
  #asFound(key: string, spec: Spec): Spec {
    const derives: Record<string, Spec> = {};
    for (const [own, { spec: stored }] of [...this.values].sort(([a], [b]) => (a < b ? -1 : 1)))
      if (baseOf(own) === key) derives[own] = stored;
    for (const [own, property] of Object.entries(spec.derives ?? {}))
      if (own.startsWith('p/')) derives[own] = property;
    return { ...spec, derives };
  }

  // The rules that the scheduler must not break.

  #checkRules(verb: Verb, key: string, before: Spec | undefined, after: Spec | undefined): void {
    const stored = this.values.get(key);
    const problem = (text: string) => this.violations.push(`${verb} ${key}: ${text}`);
    if (this.flights.has(key)) problem('another operation on it is in flight');
    if (verb === 'CREATE' && stored) problem('it exists already');
    if (verb !== 'CREATE' && !stored) problem('it does not exist');
    if (before && stored && identity(stored.spec) !== identity(before))
      problem('it is not the value that the scheduler passed');
    if (verb === 'UPDATE' && (before?.recreate || after?.recreate))
      problem('it must be re-created');
    if (after) this.#checkNeeds(key, after, problem);
    if (after) this.#checkClaims(key, after, problem);
    if (verb === 'DELETE') this.#checkDependents(key, problem);
  }

  #checkNeeds(key: string, spec: Spec, problem: (text: string) => void): void {
    const base = baseOf(key);
    if (base !== undefined && !this.#isSafe(base)) problem(`its base ${base} does not exist`);
    for (const dependency of dependenciesOf(spec))
      if (!this.#isMet(dependency) && !this.#isCycle(key, dependency))
        problem(`needs ${dependency.label}`);
  }

  #checkClaims(key: string, { claims = [] }: Spec, problem: (text: string) => void): void {
    for (const name of claims)
      for (const [other, spec] of this.#existingOrExpected())
        if (other !== key && spec.claims?.includes(name)) problem(`${other} holds ${name}`);
  }

  #checkDependents(key: string, problem: (text: string) => void): void {
    for (const [other, spec] of this.#existingOrExpected()) {
      if (other === key) continue;
      if (baseOf(other) === key && !other.startsWith('p/')) problem(`${other} is derived from it`);
      for (const dependency of dependenciesOf(spec))
        if (
          names(dependency, key) &&
          !names(dependency, other) &&
          !this.#isMet(dependency, key) &&
          !this.#isCycle(other, dependency) &&
          // Some members of a cycle that is being deleted may not exist any more.
          !this.#reaches(key, other, new Set(), this.snapshot)
        )
          problem(`${other} depends on it`);
    }
  }

  /** Values that exist or may exist, in their old and new versions. */
  *#existingOrExpected(): Generator<[string, Spec]> {
    for (const [key, { spec, managed }] of this.values) if (managed) yield [key, spec];
    for (const [key, { after }] of this.flights) if (after) yield [key, after];
  }

  /** It exists, and no operation in flight deletes it. */
  #isSafe(key: string): boolean {
    if (key.startsWith('p/')) {
      const base = baseOf(key);
      return base !== undefined && this.#isSafe(base);
    }
    const flight = this.flights.get(key);
    return this.values.has(key) && flight?.verb !== 'DELETE';
  }

  #isMet(dependency: Dependency, without?: string): boolean {
    const keys = [...this.values.keys(), ...this.#properties()];
    return keys.some((key) => key !== without && names(dependency, key) && this.#isSafe(key));
  }

  *#properties(): Generator<string> {
    for (const { spec } of this.values.values())
      for (const key of Object.keys(spec.derives ?? {})) if (key.startsWith('p/')) yield key;
  }

  /** The desired state of the test; values in a cycle may be created one by one. */
  desired: ReadonlyMap<string, Spec> = new Map();
  /** For each desired state: the last valid base values, which stay while others are invalid. */
  readonly #lastValid = new WeakMap<ReadonlyMap<string, Spec>, ReadonlyMap<string, Spec>>();
  /** The last valid derived values. */
  derivedValid: ReadonlyMap<string, Spec> = new Map();

  /** Sets the desired state. */
  setDesired(desired: ReadonlyMap<string, Spec>): void {
    const known = this.#lastValid.get(this.desired);
    const lastValid = new Map<string, Spec>();
    for (const [key, spec] of desired) {
      const valid = spec.invalid ? known?.get(key) : spec;
      if (valid) lastValid.set(key, valid);
    }
    this.#lastValid.set(desired, lastValid);
    this.desired = desired;
  }

  /** Without the model: all valid derived values so far may be the last valid ones. */
  addDerivedValid(): void {
    const known = [...this.desired.values()].flatMap(({ derives = {} }) => Object.entries(derives));
    this.derivedValid = new Map([...this.derivedValid, ...known.filter(([, one]) => !one.invalid)]);
  }

  /** The last valid values, base and derived. */
  get lastValid(): ReadonlyMap<string, Spec> {
    return new Map([...(this.#lastValid.get(this.desired) ?? []), ...this.derivedValid]);
  }

  /** While a transaction runs that may be undone: the desired state before it. */
  former: ReadonlyMap<string, Spec> = new Map();

  #isCycle(key: string, dependency: Dependency): boolean {
    if (names(dependency, key)) return true;
    for (const other of this.#desiredKeys())
      if (names(dependency, other) && this.#reaches(other, key, new Set())) return true;
    return false;
  }

  *#desiredValues(): Generator<[string, Spec]> {
    for (const values of [this.desired, this.former]) {
      yield* values;
      yield* this.#lastValid.get(values) ?? [];
    }
    yield* this.derivedValid;
  }

  *#desiredKeys(): Generator<string> {
    for (const [key, { derives = {} }] of this.#desiredValues()) {
      yield key;
      yield* Object.keys(derives);
    }
  }

  /** @param former values that may have existed and that existing ones may depend on */
  #reaches(
    from: string,
    to: string,
    visited: Set<string>,
    former: ReadonlyMap<string, Spec> = new Map(),
  ): boolean {
    if (from === to) return true;
    if (visited.has(from)) return false;
    visited.add(from);
    const specs = this.#specsOf(from);
    const formerSpec = former.get(from);
    if (formerSpec) specs.push(formerSpec);
    const next: string[] = [];
    const base = baseOf(from);
    if (base !== undefined) next.push(base);
    for (const spec of specs)
      for (const dependency of dependenciesOf(spec)) {
        if (dependency.key !== undefined) next.push(dependency.key);
        for (const key of [
          ...this.values.keys(),
          ...this.#properties(),
          ...former.keys(),
          ...this.#desiredKeys(),
        ])
          if (names(dependency, key)) next.push(key);
      }
    return next.some((key) => this.#reaches(key, to, visited, former));
  }

  #specsOf(key: string): Spec[] {
    const specs: Spec[] = [];
    const stored = this.values.get(key);
    if (stored) specs.push(stored.spec);
    for (const [desiredKey, spec] of this.#desiredValues()) {
      if (desiredKey === key) specs.push(spec);
      const own = spec.derives?.[key];
      if (own) specs.push(own);
    }
    return specs;
  }
}

/**
 * Everything that the southbound stores of a value; derived values are stored separately, except for
 * properties.
 */
export function identity(spec: Spec): string {
  const { v, needs = [], any = [], claims = [], derives = {}, recreate } = spec;
  const properties = Object.entries(derives)
    .filter(([key]) => key.startsWith('p/'))
    .map(([key, property]) => `${key}=${property.v}`);
  const relations = [needs, any, claims, properties].map((list) => list.join(' '));
  return [v, ...relations, recreate ? 'recreate' : ''].join('|').replace(/\|+$/, '');
}

/** `d/a1.0` and `p/a1` are derived from `a/1`. */
export function baseOf(key: string): string | undefined {
  const match = /^[dp]\/([a-z])([a-z0-9]+)/.exec(key);
  return match ? `${match[1]}/${match[2]}` : undefined;
}

export function dependenciesOf({ needs = [], any = [] }: Spec): Dependency[] {
  return [
    ...needs.map((key) => ({ label: key, key })),
    ...any.map((prefix) => ({ label: `any of ${prefix}`, anyOf: { prefixes: [prefix] } })),
  ];
}

export function names({ key, anyOf }: Dependency, candidate: string): boolean {
  if (key === candidate) return true;
  return anyOf?.prefixes.some((prefix) => candidate.startsWith(prefix)) ?? false;
}
