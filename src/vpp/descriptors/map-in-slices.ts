import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';

/** Maps the items and yields to the event loop in between, so that 100,000 items do not block it. */
export async function mapInSlices<T, R>(
  clock: Clock,
  items: Iterable<T>,
  work: (item: T) => R,
): Promise<R[]> {
  const slices = new Slices(clock);
  const done: R[] = [];
  for (const item of items) {
    if (slices.due()) await slices.turn();
    done.push(work(item));
  }
  return done;
}
