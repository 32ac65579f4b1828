/** The wall clock without steps back, for times of records. */

/** Date.now() has whole milliseconds, and NTP adjusts the rate: smaller differences are no step. */
const STEP_MS = 5;
/** Rate at which it waits for a wall clock that was set back. */
const SLOW_RATE = 0.5;

/**
 * Milliseconds since the epoch that follow the wall clock and never decrease, so that records stay in order: a
 * step forward is followed at once, and after a step back time passes at half the rate until both agree.
 * @param wallTime milliseconds since the epoch
 * @param monotonic the same instants by a clock that cannot be set
 */
export function steadyWallClock(wallTime: () => number, monotonic: () => number): () => number {
  let last = wallTime();
  let lastMonotonic = monotonic();
  return () => {
    const wall = wallTime();
    const passed = monotonic() - lastMonotonic;
    lastMonotonic += passed;
    const difference = wall - (last + passed);
    if (difference > STEP_MS) last = wall;
    else last += difference < -STEP_MS ? passed * SLOW_RATE : passed;
    return last;
  };
}
