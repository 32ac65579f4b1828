/**
 * Reference model of the southbound, slow and simple: it starts from the whole desired state and removes
 * values that cannot exist, until nothing changes. It is serial and has no plans, windows or indexes.
 */
import { baseOf, dependenciesOf, type Spec } from './southbound.ts';

export interface Expected {
  /** `CONFIGURED`, or the reason why not, by key; without derived values of missing values. */
  readonly states: ReadonlyMap<string, string>;
  /** Managed values that exist in the southbound. */
  readonly existing: ReadonlyMap<string, Spec>;
}

type Specs = ReadonlyMap<string, Spec>;

/**
 * @param before managed values that existed: a value that has a claim keeps it
 * @param lastValid by key, base and derived: the value that stays while the desired one is invalid
 */
export function expectedState(
  desired: Specs,
  unmanaged: ReadonlySet<string>,
  before: Specs,
  lastValid: Specs,
): Expected {
  const effective = effectiveValues(desired, lastValid);
  const { existing, blocked } = withClaims(effective, unmanaged, before);
  const states = new Map<string, string>();
  const note = (key: string, spec: Spec, isInvalid: boolean) => {
    const lacks = lacking(existing, unmanaged, key, spec).map(({ label }) => label);
    const claim = blocked.get(key)?.name;
    const holder = claim && holderOf(existing, claim);
    if (claim !== undefined && lacks.length === 0)
      lacks.push(`claim ${claim}${holder === undefined ? '' : ` (held by ${holder})`}`);
    if (!isImplemented(key)) states.set(key, 'UNIMPLEMENTED');
    else if (spec.invalid) states.set(key, 'INVALID [invalid]');
    else if (isInvalid) {
      const state = existing.has(key) ? 'CONFIGURED' : 'PENDING';
      states.set(key, `INVALID [invalid] last valid ${state}`);
    } else if (existing.has(key)) states.set(key, 'CONFIGURED');
    else states.set(key, `PENDING [${lacks.join(', ')}]`);
  };
  for (const [key, spec] of effective) {
    note(key, spec, desired.get(key)?.invalid ?? false);
    if (!existing.has(key)) continue;
    const base = baseSpec(key, desired, lastValid);
    for (const [own, derived] of Object.entries(spec.derives ?? {}))
      note(own, derived, base?.derives?.[own]?.invalid ?? false);
  }
  return { states, existing };
}

function baseSpec(key: string, desired: Specs, lastValid: Specs): Spec | undefined {
  const spec = desired.get(key);
  return spec?.invalid ? lastValid.get(key) : spec;
}

/** For each invalid value its last valid one; without one, the value stays invalid. */
export function effectiveValues(desired: Specs, lastValid: Specs): Map<string, Spec> {
  const effective = (key: string, spec: Spec): Spec =>
    spec.invalid ? (lastValid.get(key) ?? spec) : spec;
  const values = new Map<string, Spec>();
  for (const [key, spec] of desired) {
    const { derives, ...base } = effective(key, spec);
    const own = Object.entries(derives ?? {}).map(([one, child]) => [one, effective(one, child)]);
    values.set(key, derives ? { ...base, derives: Object.fromEntries(own) } : base);
  }
  return values;
}

/** The last valid derived values after a step: those of a base that does not exist are forgotten. */
export function lastValidDerived(
  desired: Specs,
  unmanaged: ReadonlySet<string>,
  before: Specs,
  lastValid: Specs,
): Map<string, Spec> {
  const effective = effectiveValues(desired, lastValid);
  const { existing } = expectedState(desired, unmanaged, before, lastValid);
  const derived = new Map<string, Spec>();
  for (const [key, { derives = {} }] of effective)
    if (existing.has(key))
      for (const [own, spec] of Object.entries(derives)) if (!spec.invalid) derived.set(own, spec);
  return derived;
}

/** By the key of a value that waits for a claim: the claim, and the value that has it. */
type Blocked = ReadonlyMap<string, { readonly name: string; readonly by: string }>;

/** Of two values with one claim one waits; if the other cannot exist after all, the first returns. */
function withClaims(desired: Specs, unmanaged: ReadonlySet<string>, before: Specs) {
  const blocked = new Map<string, { readonly name: string; readonly by: string }>();
  /** Rivals that a value outlived: they never have precedence again. */
  const outlived = new Map<string, Set<string>>();
  for (;;) {
    const existing = whatCanBe(desired, unmanaged, blocked);
    const lost = claimsLost(existing, before, outlived);
    for (const one of lost) blocked.set(one.loser, one);
    if (lost.length === 0) {
      const back = [...blocked].filter(
        ([key, { name, by }]) =>
          !outlived.get(key)?.has(by) && holderOf(existing, name) === undefined,
      );
      if (back.length === 0) return { existing, blocked };
      for (const [key, { by }] of back) {
        outlived.set(key, new Set(outlived.get(key)).add(by));
        blocked.delete(key);
      }
    }
  }
}

/**
 * The value that has a claim keeps it; otherwise the first by key gets it. All others wait for the one
 * that they lost to: no value gets a claim only because its rivals were removed before it.
 */
function claimsLost(
  existing: Specs,
  before: Specs,
  outlived: ReadonlyMap<string, ReadonlySet<string>>,
): { readonly loser: string; readonly name: string; readonly by: string }[] {
  const goesBefore = (a: string, b: string, name: string): boolean => {
    const isAfter = outlived.get(b)?.has(a) ?? false;
    const isBefore = outlived.get(a)?.has(b) ?? false;
    if (isAfter !== isBefore) return isBefore;
    const had = (key: string) => before.get(key)?.claims?.includes(name) ?? false;
    return had(a) === had(b) ? a < b : had(a);
  };
  const claimed = new Set([...existing.values()].flatMap(({ claims = [] }) => claims));
  return [...claimed].flatMap((name) => {
    const takers = [...existing].filter(([, { claims }]) => claims?.includes(name));
    const keys = takers.map(([key]) => key);
    const by = keys.reduce((winner, key) => (goesBefore(key, winner, name) ? key : winner));
    return keys.filter((key) => key !== by).map((loser) => ({ loser, name, by }));
  });
}

function holderOf(existing: Specs, name: string): string | undefined {
  return [...existing].find(([, { claims }]) => claims?.includes(name))?.[0];
}

/** All values with met dependencies that are not blocked. */
function whatCanBe(
  desired: Specs,
  unmanaged: ReadonlySet<string>,
  blocked: Blocked,
): Map<string, Spec> {
  const existing = new Map<string, Spec>();
  for (const [key, spec] of desired) {
    if (spec.invalid || blocked.has(key) || !isImplemented(key)) continue;
    existing.set(key, spec);
    for (const [own, derived] of Object.entries(spec.derives ?? {}))
      if (!derived.invalid) existing.set(own, derived);
  }
  for (let size = -1; size !== existing.size; ) {
    size = existing.size;
    for (const [key, spec] of existing) {
      const base = baseOf(key);
      const isOrphan = base !== undefined && !existing.has(base);
      if (isOrphan || lacking(existing, unmanaged, key, spec).length > 0) existing.delete(key);
    }
  }
  return existing;
}

/** Unmet dependencies of a value; its own derived values do not count. */
function lacking(there: Specs, unmanaged: ReadonlySet<string>, owner: string, spec: Spec) {
  const keys = [...there.keys(), ...unmanaged].filter((key) => baseOf(key) !== owner);
  return dependenciesOf(spec).filter(({ key, anyOf }) => {
    if (key !== undefined) return !keys.includes(key);
    return !anyOf?.prefixes.some((prefix) => keys.some((one) => one.startsWith(prefix)));
  });
}

/** A derived value with the prefix p/ is a property, which needs no descriptor. */
function isImplemented(key: string): boolean {
  return /^[abdp]\//.test(key);
}
