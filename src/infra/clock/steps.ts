import type { Slices } from './slices.ts';

/** Work in steps, between which a caller may turn the event loop. */
export type Steps<T> = Generator<void, T, void>;

/** All steps, for a caller that cannot turn. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** All steps, with turns of the event loop where they are due. */
export async function inSlices<T>(steps: Steps<T>, slices: Slices): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (slices.dueNow()) await slices.turn();
  }
}
