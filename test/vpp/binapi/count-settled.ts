/** Helpers for tests that only check how requests settle. */

export const setFlagsFields = (sw_if_index: number) => ({ sw_if_index, flags: 1 });

/** Counts how often promises settle, and collects their errors. */
export function countSettled(promises: readonly Promise<unknown>[]): {
  readonly errors: unknown[];
  readonly settled: () => number;
} {
  const errors: unknown[] = [];
  let settled = 0;
  for (const promise of promises)
    promise.then(
      () => settled++,
      (error) => {
        settled++;
        errors.push(error);
      },
    );
  return { errors, settled: () => settled };
}
