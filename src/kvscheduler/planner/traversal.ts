import type { Slices } from '#infra/clock/slices.ts';

/** A traversal that may yield nested traversals and promises, which are completed before it resumes. */
export type Traversal = Generator<Traversal | Promise<void>, void, void>;

/** Runs a traversal in slices; the call stack does not limit its depth. */
export async function runInSlices(traversal: Traversal, slices: Slices): Promise<void> {
  const path = [traversal];
  for (let top = path.at(-1); top; top = path.at(-1)) {
    if (slices.due()) await slices.turn();
    const { done, value } = top.next();
    if (done) path.pop();
    else if (value instanceof Promise) await value;
    else path.push(value);
  }
}
