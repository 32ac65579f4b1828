/**
 * What the southbound has to look like, worked out the slow and simple way: start from everything
 * that is wished and take out what cannot be, until nothing changes.
 */
import { baseOf, dependenciesOf, type Spec } from './southbound.ts';

export interface Expected {
  /** `CONFIGURED`, or why not, by key; derived values of what is not there are left out. */
  readonly states: ReadonlyMap<string, string>;
  /** What stands in the southbound because of us. */
  readonly standing: ReadonlyMap<string, Spec>;
}

export function expectedState(
  wished: ReadonlyMap<string, Spec>,
  foreign: ReadonlySet<string>,
): Expected {
  const standing = new Map<string, Spec>();
  const lackingFrom = (there: ReadonlyMap<string, Spec>, owner: string, spec: Spec) => {
    const keys = [...there.keys(), ...foreign].filter((key) => baseOf(key) !== owner);
    return dependenciesOf(spec).filter(({ key, anyOf }) => {
      if (key !== undefined) return !keys.includes(key);
      return !anyOf?.prefixes.some((prefix) => keys.some((one) => one.startsWith(prefix)));
    });
  };
  // In rounds: what is derived from a value takes part when the value itself is settled.
  for (let before = -1; before !== standing.size; ) {
    before = standing.size;
    const candidates = new Map<string, Spec>();
    for (const [key, spec] of wished) {
      if (spec.invalid || !isImplemented(key)) continue;
      candidates.set(key, spec);
      if (!standing.has(key)) continue;
      for (const [own, derived] of Object.entries(spec.derives ?? {}))
        if (!derived.invalid) candidates.set(own, derived);
    }
    for (let size = -1; size !== candidates.size; ) {
      size = candidates.size;
      for (const [key, spec] of candidates)
        if (lackingFrom(candidates, key, spec).length > 0) candidates.delete(key);
    }
    for (const [key, spec] of candidates) standing.set(key, spec);
  }
  const lacking = (key: string, spec: Spec) => lackingFrom(standing, key, spec);
  const states = new Map<string, string>();
  const note = (key: string, spec: Spec) => {
    if (standing.has(key)) states.set(key, 'CONFIGURED');
    else if (!isImplemented(key)) states.set(key, 'UNIMPLEMENTED');
    else if (spec.invalid) states.set(key, 'INVALID [invalid]');
    else
      states.set(
        key,
        `PENDING [${lacking(key, spec)
          .map(({ label }) => label)
          .join(', ')}]`,
      );
  };
  for (const [key, spec] of wished) {
    note(key, spec);
    if (!standing.has(key)) continue;
    for (const [own, derived] of Object.entries(spec.derives ?? {})) note(own, derived);
  }
  return { states, standing };
}

/** A derived value with the prefix p/ is a property: it needs no descriptor. */
function isImplemented(key: string): boolean {
  return /^[abdp]\//.test(key);
}
