/** Random scripts of events for a scheduler. */
import fc from 'fast-check';
import { baseOf, type Spec } from './southbound.ts';

export type Step =
  | {
      readonly kind: 'commit';
      readonly mode: 'update' | 'full-resync' | 'upstream-resync';
      readonly desired: Readonly<Record<string, Spec | null>>;
      readonly revert: boolean;
      /** Values that the southbound loses before a full resync, which may drop them, too. */
      readonly lost?: readonly number[];
    }
  | { readonly kind: 'downstream' }
  /** The southbound changes an unmanaged value and reports it. */
  | { readonly kind: 'report'; readonly reports: Readonly<Record<string, Spec | null>> }
  /** The southbound changes without a report, then is read completely. */
  | {
      readonly kind: 'drift';
      readonly lost: readonly number[];
      readonly wrong: readonly number[];
      readonly leftovers: readonly ScriptedLeftover[];
    };

export interface ScriptedLeftover {
  /** The prefix of its descriptor, and its name. */
  readonly path: string;
  readonly precedes: readonly string[];
  readonly of: string | undefined;
}

export interface Faults {
  /** `VERB key` of operations that fail, and how often. */
  readonly failing: Readonly<Record<string, number>>;
  /** The operation is executed, but fails with an unknown outcome. */
  readonly losing: readonly string[];
  /** The operation is executed, but fails as if it had not been; not if the value cannot be read. */
  readonly botching?: readonly string[];
  /** Descriptors that cannot be read. */
  readonly blind: readonly string[];
}

const bases = ['a/0', 'a/1', 'a/2', 'a/3', 'b/0', 'b/1', 'b/2', 'z/0'];
export const unmanagedKeys = ['a/f0', 'a/f1', 'b/f0'];

function childrenOf(base: string): string[] {
  const name = base.replace('/', '');
  return [`d/${name}.0`, `d/${name}.1`, `p/${name}`];
}

/**
 * These two and their derived values may depend on each other: values in a cycle are created
 * together, also if it leads through a derived value.
 */
const cycle = [3, 4];

/** The keys that a value may depend on: values before it, and the members of its cycle. */
function tameKeys(owner: string): string[] {
  const base = baseOf(owner) ?? owner;
  const rank = bases.indexOf(base);
  const inCircle = cycle.includes(rank);
  const before = bases.slice(0, inCircle ? Math.min(...cycle) : rank);
  const partners = inCircle ? cycle.map((other) => bases[other] as string) : [];
  const keys = [...unmanagedKeys, 'a/none', ...before, ...before.flatMap(childrenOf), ...partners];
  if (inCircle) return [...keys, ...partners.flatMap(childrenOf)];
  return owner === base ? keys : [...keys, ...childrenOf(base)];
}

function tamePrefixes(owner: string): string[] {
  const rank = bases.indexOf(baseOf(owner) ?? owner);
  const prefixes = ['a/f', 'x/'];
  if (rank > 0) prefixes.push('d/a0.');
  if (rank > 4) prefixes.push('a/');
  return prefixes;
}

/** All keys. */
const wildKeys = [...bases, ...unmanagedKeys, ...bases.flatMap(childrenOf), 'a/none'];
const wildPrefixes = ['b/', 'd/a0.', 'd/', 'a/f', 'x/'];

interface Relations {
  readonly needs: fc.Arbitrary<string[]>;
  readonly any: fc.Arbitrary<string[]>;
}

function relationsOf(owner: string, wild: boolean): Relations {
  const keys = wild ? wildKeys : tameKeys(owner);
  const prefixes = wild ? wildPrefixes : tamePrefixes(owner);
  const some = fc.array(fc.constantFrom(...prefixes), { minLength: 1, maxLength: 2 });
  return {
    needs: fc.array(fc.constantFrom(...keys), { maxLength: 2 }),
    any: fc.oneof(
      { weight: 4, arbitrary: fc.constant<string[]>([]) },
      { weight: 1, arbitrary: some },
    ),
  };
}

const rarely = fc.nat(9).map((n) => n === 0);
const sometimes = fc.nat(9).map((n) => n < 2);

function derivesOf(base: string, wild: boolean): fc.Arbitrary<Record<string, Spec>> {
  const children = childrenOf(base);
  const specs = children.map((key): fc.Arbitrary<Spec> => {
    // A property has no descriptor: it can neither fail nor wait.
    if (key.startsWith('p/')) return fc.record({ v: fc.nat(2) });
    const { needs, any } = relationsOf(key, wild);
    const relations = { needs: sparse(needs), any: sparse(any) };
    return fc.record({ v: fc.nat(2), ...relations, invalid: rarely, recreate: rarely });
  });
  return fc
    .tuple(fc.subarray(children), fc.tuple(...specs))
    .map(([which, all]) =>
      Object.fromEntries(which.map((key) => [key, all[children.indexOf(key)] as Spec])),
    );
}

function sparse<T>(arbitrary: fc.Arbitrary<T[]>): fc.Arbitrary<T[]> {
  return fc.oneof({ weight: 2, arbitrary: fc.constant([] as T[]) }, { weight: 1, arbitrary });
}

function specOf(base: string, wild: boolean): fc.Arbitrary<Spec> {
  const { needs, any } = relationsOf(base, wild);
  return fc.record({
    v: fc.nat(2),
    needs: sparse(needs),
    any,
    derives: derivesOf(base, wild),
    invalid: sometimes,
    recreate: rarely,
  });
}

function valuesFor(keys: readonly string[], withNulls: boolean, wild: boolean) {
  const entries = keys.map(
    (key): fc.Arbitrary<[string, Spec | null]> =>
      fc.tuple(
        fc.constant(key),
        withNulls
          ? fc.oneof(
              { weight: 3, arbitrary: specOf(key, wild) },
              { weight: 1, arbitrary: fc.constant(null) },
            )
          : specOf(key, wild),
      ),
  );
  return fc
    .tuple(fc.tuple(...entries), fc.subarray([...keys], { minLength: 1 }))
    .map(([all, some]) => Object.fromEntries(all.filter(([key]) => some.includes(key))));
}

/** The claims of the next version of each base value: all different, any value may get any of them. */
const claimPlans = fc.shuffledSubarray(
  ['x', 'y', 'z', undefined, undefined, undefined, undefined],
  {
    minLength: bases.length - 1,
    maxLength: bases.length - 1,
  },
);

export interface ScriptOptions {
  /** Values may depend indirectly on their own derived values. */
  readonly wild: boolean;
  /** Two values may have one claim; default: as wild. */
  readonly conflicts?: boolean;
  /** The southbound may lose values just before a full resync. */
  readonly losses?: boolean;
  /**
   * A derived value is always valid or never: with faults, the model does not know when its base was
   * missing and its last valid value was forgotten.
   */
  readonly steady?: boolean;
}

export function scripts(
  { wild, conflicts = wild, losses = false, steady = false }: ScriptOptions,
  length: number,
): fc.Arbitrary<Step[]> {
  const desiredValues = (withNulls: boolean) =>
    claimedValues(withNulls).map((desired) => (steady ? withSteadyValidity(desired) : desired));
  const claimedValues = (withNulls: boolean) =>
    conflicts
      ? fc
          .tuple(
            valuesFor(bases, withNulls, wild),
            fc.infiniteStream(fc.constantFrom('x', 'y', undefined, undefined)),
          )
          .map(([chosen, claims]) => withClaims(chosen, () => claims.next().value))
      : fc
          .tuple(valuesFor(bases, withNulls, wild), claimPlans)
          .map(([chosen, plan]) => withClaims(chosen, (key) => plan[bases.indexOf(key)]));
  const update = fc.record({
    kind: fc.constant('commit' as const),
    mode: fc.constant('update' as const),
    desired: desiredValues(true),
    revert: fc.nat(3).map((n) => n === 0),
  });
  const resync = fc.record({
    kind: fc.constant('commit' as const),
    mode: fc.constantFrom('full-resync' as const, 'upstream-resync' as const),
    desired: desiredValues(false),
    revert: fc.constant(false),
    ...(losses && { lost: fc.array(fc.nat(20), { maxLength: 3 }) }),
  });
  const report = fc.record({
    kind: fc.constant('report' as const),
    reports: fc.dictionary(
      fc.constantFrom(...unmanagedKeys),
      fc.option(fc.record({ v: fc.nat(1) })),
      { minKeys: 1, maxKeys: 2 },
    ),
  });
  const drift = fc.record({
    kind: fc.constant('drift' as const),
    lost: fc.array(fc.nat(20), { maxLength: 3 }),
    wrong: fc.array(fc.nat(20), { maxLength: 2 }),
    leftovers: fc.array(
      fc.record({
        path: fc.constantFrom('a/x', 'a/y', 'b/z'),
        precedes: fc.subarray(['a/', 'b/1', 'd/']),
        of: fc.constantFrom(...bases, undefined),
      }),
      { maxLength: 2 },
    ),
  });
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 6, arbitrary: update },
    { weight: 2, arbitrary: resync },
    { weight: 3, arbitrary: report },
    { weight: 1, arbitrary: drift },
    { weight: 1, arbitrary: fc.constant({ kind: 'downstream' as const }) },
  );
  return fc.array(step, { minLength: 1, maxLength: length });
}

function withSteadyValidity(
  desired: Readonly<Record<string, Spec | null>>,
): Record<string, Spec | null> {
  const steady = ([key, spec]: [string, Spec]) => [key, { ...spec, invalid: /[12]\.1$/.test(key) }];
  return Object.fromEntries(
    Object.entries(desired).map(([key, spec]) => {
      if (!spec) return [key, spec];
      const derives = Object.fromEntries(Object.entries(spec.derives ?? {}).map(steady));
      return [key, { ...spec, derives }];
    }),
  );
}

function withClaims(
  desired: Readonly<Record<string, Spec | null>>,
  claimOf: (key: string) => string | undefined,
): Record<string, Spec | null> {
  return Object.fromEntries(
    Object.entries(desired).map(([key, spec]) => {
      const claim = claimOf(key);
      return [key, spec && claim !== undefined ? { ...spec, claims: [claim] } : spec];
    }),
  );
}

const operations = ['CREATE', 'UPDATE', 'DELETE'].flatMap((verb) =>
  [...bases, ...bases.flatMap(childrenOf)].map((key) => `${verb} ${key}`),
);

export const faults: fc.Arbitrary<Faults> = fc.record({
  failing: fc.dictionary(fc.constantFrom(...operations), fc.integer({ min: 1, max: 3 }), {
    maxKeys: 6,
  }),
  losing: fc.array(fc.constantFrom(...operations), { maxLength: 2 }),
  botching: fc.array(fc.constantFrom(...operations), { maxLength: 1 }),
  blind: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.subarray(['alpha', 'beta']) },
  ),
});
