/**
 * What the southbound has to look like, worked out the slow and simple way: start from everything
 * that is wished and take out what cannot be, until nothing changes. It does one thing at a time and
 * knows nothing of plans, windows or indexes.
 */
import { baseOf, dependenciesOf, type Spec } from './southbound.ts';

export interface Expected {
  /** `CONFIGURED`, or why not, by key; derived values of what is not there are left out. */
  readonly states: ReadonlyMap<string, string>;
  /** What stands in the southbound because of us. */
  readonly existing: ReadonlyMap<string, Spec>;
}

type Specs = ReadonlyMap<string, Spec>;

/** @param before what stood there because of us: who has a claim keeps it */
export function expectedState(
  wished: Specs,
  foreign: ReadonlySet<string>,
  before: Specs,
): Expected {
  const { standing, blocked } = withClaims(wished, foreign, before);
  const states = new Map<string, string>();
  const note = (key: string, spec: Spec) => {
    const lacks = lacking(standing, foreign, key, spec).map(({ label }) => label);
    const claim = blocked.get(key)?.name;
    const holder = claim && holderOf(standing, claim);
    if (claim !== undefined && lacks.length === 0)
      lacks.push(`claim ${claim}${holder === undefined ? '' : ` (held by ${holder})`}`);
    if (standing.has(key)) states.set(key, 'CONFIGURED');
    else if (!isImplemented(key)) states.set(key, 'UNIMPLEMENTED');
    else if (spec.invalid) states.set(key, 'INVALID [invalid]');
    else states.set(key, `PENDING [${lacks.join(', ')}]`);
  };
  for (const [key, spec] of wished) {
    note(key, spec);
    if (!standing.has(key)) continue;
    for (const [own, derived] of Object.entries(spec.derives ?? {})) note(own, derived);
  }
  return { states, existing: standing };
}

/** Who waits for which claim, and who has got it instead. */
type Blocked = ReadonlyMap<string, { readonly name: string; readonly by: string }>;

/** Of two that want one claim one waits; when the other cannot be there after all, it comes back. */
function withClaims(wished: Specs, foreign: ReadonlySet<string>, before: Specs) {
  const blocked = new Map<string, { readonly name: string; readonly by: string }>();
  /** Whom each has come back for: these never go before it again. */
  const outlived = new Map<string, Set<string>>();
  for (;;) {
    const standing = whatCanBe(wished, foreign, blocked);
    const lost = claimsLost(standing, before, outlived);
    for (const one of lost) blocked.set(one.loser, one);
    if (lost.length === 0) {
      const back = [...blocked].filter(
        ([key, { name, by }]) =>
          !outlived.get(key)?.has(by) && holderOf(standing, name) === undefined,
      );
      if (back.length === 0) return { standing, blocked };
      for (const [key, { by }] of back) {
        outlived.set(key, new Set(outlived.get(key)).add(by));
        blocked.delete(key);
      }
    }
  }
}

/**
 * Who has a claim keeps it; else whoever is first by key gets it. All others wait, each for whom it
 * lost to: nobody gets a claim only because its rivals were sent away before it.
 */
function claimsLost(
  standing: Specs,
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
  const claimed = new Set([...standing.values()].flatMap(({ claims = [] }) => claims));
  return [...claimed].flatMap((name) => {
    const takers = [...standing].filter(([, { claims }]) => claims?.includes(name));
    const keys = takers.map(([key]) => key);
    const by = keys.reduce((winner, key) => (goesBefore(key, winner, name) ? key : winner));
    return keys.filter((key) => key !== by).map((loser) => ({ loser, name, by }));
  });
}

function holderOf(standing: Specs, name: string): string | undefined {
  return [...standing].find(([, { claims }]) => claims?.includes(name))?.[0];
}

/** Everything that has what it needs, except for what is blocked. */
function whatCanBe(
  wished: Specs,
  foreign: ReadonlySet<string>,
  blocked: Blocked,
): Map<string, Spec> {
  const standing = new Map<string, Spec>();
  // In rounds: what is derived from a value takes part when the value itself is settled.
  for (let before = -1; before !== standing.size; ) {
    before = standing.size;
    const candidates = new Map<string, Spec>();
    for (const [key, spec] of wished) {
      if (spec.invalid || blocked.has(key) || !isImplemented(key)) continue;
      candidates.set(key, spec);
      if (!standing.has(key)) continue;
      for (const [own, derived] of Object.entries(spec.derives ?? {}))
        if (!derived.invalid) candidates.set(own, derived);
    }
    for (let size = -1; size !== candidates.size; ) {
      size = candidates.size;
      for (const [key, spec] of candidates)
        if (lacking(candidates, foreign, key, spec).length > 0) candidates.delete(key);
    }
    for (const [key, spec] of candidates) standing.set(key, spec);
  }
  return standing;
}

/** What a value needs and does not have; what is derived from it does not count. */
function lacking(there: Specs, foreign: ReadonlySet<string>, owner: string, spec: Spec) {
  const keys = [...there.keys(), ...foreign].filter((key) => baseOf(key) !== owner);
  return dependenciesOf(spec).filter(({ key, anyOf }) => {
    if (key !== undefined) return !keys.includes(key);
    return !anyOf?.prefixes.some((prefix) => keys.some((one) => one.startsWith(prefix)));
  });
}

/** A derived value with the prefix p/ is a property: it needs no descriptor. */
function isImplemented(key: string): boolean {
  return /^[abdp]\//.test(key);
}
