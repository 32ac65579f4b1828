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
export const path = process.env['CV_PATH'];

/**
 * @param file of the test, and `name` of it: the command that runs a failure again names both
 * @param count how many cases; `CV_CASES` multiplies it
 * @param limitMs what so many cases may take, with the search for a smaller one that fails; on a
 *   machine that is slower fewer are tried, but one at least
 */
export async function holds<T extends [unknown, ...unknown[]]>(
  { file, name }: { readonly file: string; readonly name: string },
  count: number,
  property: fc.IAsyncPropertyWithHooks<T>,
  limitMs?: number,
): Promise<void> {
  await fc.assert<T>(property, {
    numRuns: path === undefined ? Math.ceil(count * factor) : 1,
    ...(limitMs !== undefined && { interruptAfterTimeLimit: limitMs * Math.max(1, factor) }),
    ...(seed !== undefined && { seed: Number(seed) }),
    ...(path !== undefined && { path, endOnFailure: true }),
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
