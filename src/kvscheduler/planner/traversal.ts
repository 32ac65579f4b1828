import type { Slices } from '#infra/clock/slices.ts';

/** A walk that may yield further walks, and promises, which are carried out before it goes on. */
export type Walk = Generator<Walk | Promise<void>, void, void>;

/** Carries a walk out in slices; its depth is not limited by the call stack. */
export async function carryOut(walk: Walk, slices: Slices): Promise<void> {
  const path = [walk];
  for (let top = path.at(-1); top; top = path.at(-1)) {
    if (slices.due()) await slices.turn();
    const { done, value } = top.next();
    if (done) path.pop();
    else if (value instanceof Promise) await value;
    else path.push(value);
  }
}
