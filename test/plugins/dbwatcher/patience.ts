/** How long is waited for what has to come. */
import assert from 'node:assert/strict';
import { systemClock } from '#infra/clock/system.ts';

export const LIMIT_MS = 300_000;

/** Waits for a condition, not for a time; the limit is for what never comes. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  const end = systemClock.monotonic() + LIMIT_MS;
  while (!(await condition())) {
    assert.ok(systemClock.monotonic() < end, `waited in vain: ${what}`);
    await systemClock.sleep(10);
  }
}
