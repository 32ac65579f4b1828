/** Runs a property over many cases; what fails says how to run that one case again. */
import fc from 'fast-check';

const cases = process.env['CV_CASES'];
const factor = Number(cases ?? 1);
/**
 * The ordinary run has the same cases each time, so that it fails for what was changed and for
 * nothing else. A fault that one case in fifty thousand shows would stop somebody who has not made
 * it, and be gone at the next run. New cases are for whoever looks for faults: `CV_CASES`, even 1,
 * draws them, and a failure tells its seed.
 */
const seed = process.env['CV_SEED'] ?? (cases === undefined ? '1' : undefined);
/** The single case that is run again, instead of all. */
export const singleCasePath = process.env['CV_PATH'];

/** How long a smaller case is looked for after one has failed. */
const SEARCH_MS = 60_000;

/**
 * @param file of the test, and `name` of it: the command that runs a failure again names both
 * @param count how many cases; `CV_CASES` multiplies it
 */
export async function checkProperty<T extends [unknown, ...unknown[]]>(
  { file, name }: { readonly file: string; readonly name: string },
  count: number,
  property: fc.IAsyncPropertyWithHooks<T>,
): Promise<void> {
  boundSearch(property);
  await fc.assert<T>(property, {
    numRuns: singleCasePath === undefined ? Math.ceil(count * factor) : 1,
    ...(seed !== undefined && { seed: Number(seed) }),
    ...(singleCasePath !== undefined && { path: singleCasePath, endOnFailure: true }),
    asyncReporter: async (details) => {
      if (!details.failed) return;
      const { seed: failed, counterexamplePath: at } = details;
      const which = at === null ? '' : ` CV_PATH=${at}`;
      const again = `CV_SEED=${failed}${which} node --test --test-name-pattern '${name}' ${file}`;
      throw new Error(`${again}\n${await fc.asyncDefaultReportMessage(details)}`, {
        cause: details.errorInstance,
      });
    },
  });
}

/**
 * After the first case that failed only smaller ones are tried. When the time for these is over the
 * rest of them passes untried, and the smallest that has failed is told. A case that is slow without
 * a failure is none: all that were asked for are tried.
 */
function boundSearch<T>(property: fc.IAsyncPropertyWithHooks<T>): void {
  const run = property.run.bind(property);
  let end = Number.POSITIVE_INFINITY;
  property.run = async (value) => {
    if (performance.now() > end) return null;
    const result = await run(value);
    if (result !== null && !fc.PreconditionFailure.isFailure(result))
      end = Math.min(end, performance.now() + SEARCH_MS);
    return result;
  };
}
