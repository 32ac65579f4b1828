/**
 * Runs a property over many random cases. A failure starts with the command that runs that one case
 * again. docs/testing.md describes the variables.
 */
import fc from 'fast-check';

/**
 * `npm test` runs the same cases each time, so that it fails for a change of the code and for nothing
 * else. `CV_CASES`, even 1, draws new ones.
 */
function seedOf({ CV_SEED: seed, CV_CASES: cases }: NodeJS.ProcessEnv): number | undefined {
  if (seed !== undefined) return Number(seed);
  return cases === undefined ? 1 : undefined;
}

/** The single case to run again. */
export const singleCasePath = process.env['CV_PATH'];

/**
 * `npm test` runs only the first cases of a long property. `npm run soak -- random` runs all of them,
 * and `.ci/run` one part, in rotation.
 */
const CASES_OF_NPM_TEST = 500;

/** How long fast-check may look for a smaller failing case. */
const SHRINK_LIMIT_MS = 60_000;

interface Range {
  readonly from: number;
  readonly count: number;
}

/**
 * The cases to run of a property. A short property always runs whole.
 * @param part `3/8`: the third of eight parts of equal size; undefined: the first cases
 */
export function rangeOf(count: number, part: string | undefined, cases?: string): Range {
  if (cases !== undefined) return { from: 0, count: Math.ceil(count * Number(cases)) };
  if (count <= CASES_OF_NPM_TEST) return { from: 0, count };
  if (part === undefined) return { from: 0, count: CASES_OF_NPM_TEST };
  const [number = 1, of = 1] = part.split('/').map(Number);
  const from = Math.floor((count * (number - 1)) / of);
  return { from, count: Math.floor((count * number) / of) - from };
}

/**
 * @param file of the test, and `name` of it: for the command that runs a failure again
 * @param count number of cases; `CV_CASES` multiplies it
 */
export async function checkProperty<T extends [unknown, ...unknown[]]>(
  { file, name }: { readonly file: string; readonly name: string },
  count: number,
  property: fc.IAsyncPropertyWithHooks<T>,
): Promise<void> {
  limitShrinking(property);
  const range = rangeOf(count, process.env['CV_PART'], process.env['CV_CASES']);
  const seed = seedOf(process.env);
  await fc.assert<T>(property, {
    numRuns: singleCasePath === undefined ? range.count : 1,
    ...(range.from > 0 && { path: String(range.from) }),
    ...(seed !== undefined && { seed }),
    ...(singleCasePath !== undefined && { path: singleCasePath, endOnFailure: true }),
    asyncReporter: async (details) => {
      if (!details.failed) return;
      const { seed: failed, counterexamplePath } = details;
      const path = counterexamplePath === null ? '' : ` CV_PATH=${counterexamplePath}`;
      const command = `CV_SEED=${failed}${path} node --test --test-name-pattern '${name}' ${file}`;
      // before the case, which may be longer than a report shows
      const reason = String(details.errorInstance);
      throw new Error(`${command}\n${reason}\n${await fc.asyncDefaultReportMessage(details)}`, {
        cause: details.errorInstance,
      });
    },
  });
}

/**
 * After the first failure fast-check runs only smaller cases. When their time is over the remaining
 * ones pass without being run, and the smallest that failed is reported. The time of cases before
 * the first failure is not limited.
 */
function limitShrinking<T>(property: fc.IAsyncPropertyWithHooks<T>): void {
  const run = property.run.bind(property);
  let end = Number.POSITIVE_INFINITY;
  property.run = async (value) => {
    if (performance.now() > end) return null;
    const result = await run(value);
    if (result !== null && !fc.PreconditionFailure.isFailure(result))
      end = Math.min(end, performance.now() + SHRINK_LIMIT_MS);
    return result;
  };
}
