/**
 * Freezing of plain data: objects and arrays with everything in them. A frozen object is not entered
 * again, so data that is passed on costs nothing.
 */
import type { Slices } from '../clock/slices.ts';

/** Makes data read-only at run time. @returns the same data */
export function deepFreeze<T>(data: T): T {
  for (const _ of freezing(data));
  return data;
}

/** `deepFreeze` for data that may be large. */
export async function deepFreezeInSlices(data: unknown, slices: Slices): Promise<void> {
  for (const size of freezing(data))
    if (size >= LARGE ? slices.dueNow() : slices.due()) await slices.turn();
}

/** Properties of an object that takes about as long as a slice. */
const LARGE = 4096;

/** Yields the number of properties of each object that was frozen. */
function* freezing(data: unknown): Generator<number, void, void> {
  const open: unknown[] = [data];
  while (open.length > 0) {
    const one = open.pop();
    // The elements of a typed array cannot be frozen.
    if (typeof one !== 'object' || one === null || ArrayBuffer.isView(one)) continue;
    if (Object.isFrozen(one)) continue;
    Object.freeze(one);
    const parts = Object.values(one);
    for (const part of parts) open.push(part);
    yield parts.length;
  }
}
