/**
 * The long suites are tables of cases. `npm test` runs one of eight parts of each table, and the commit decides
 * which (scripts/lib/part-of-commit.ts); `npm run test:vpp`, `npm run soak -- tables`, `npm test -- <word>` and
 * `node --test` run all cases. SUITE_PART=2/8 runs the second of eight parts.
 */
const part = process.env['SUITE_PART'];

/** Whether only a part runs: for suites with a number of objects in place of a table. */
export const runsPart = part !== undefined;

/** @returns the cases of this run */
export function selectCases<T>(cases: readonly T[]): readonly T[] {
  return part === undefined ? cases : casesOfPart(cases, part);
}

/** Numbers from 1 on without an end, of a table whose length is known when it ends. */
export function* selectNumbers(): Generator<number> {
  const [first = 1, step = 1] = (part ?? '1/1').split('/').map(Number);
  for (let number = first; ; number += step) yield number;
}

/**
 * Every case is in one of the parts. Of a table with fewer cases than parts, each part has one case, so
 * that every suite runs with every commit.
 *
 * @param part `2/4`
 */
export function casesOfPart<T>(cases: readonly T[], part: string): readonly T[] {
  const [number = 1, parts = 1] = part.split('/').map(Number);
  const count = Math.min(parts, cases.length);
  return cases.filter((_, index) => index % count === (number - 1) % count);
}
