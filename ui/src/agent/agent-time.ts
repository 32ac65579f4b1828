/** The time of the agent, which ticks: ages of what the page shows. */
import { signal } from '@preact/signals';
import { agentTimeOrigin, reconnectAfterSleep } from './event-stream.ts';
import { isVisible } from './page-visibility.ts';

const TICK_MS = 1_000;

const tick = signal(performance.now());

setInterval(() => {
  if (!isVisible.peek()) return;
  reconnectAfterSleep();
  tick.value = performance.now();
}, TICK_MS);

/**
 * Milliseconds since the page began, also when the clock of the browser is set; a component that reads it is
 * rendered again each second.
 */
export function pageTime(): number {
  void tick.value;
  return performance.now();
}

/** Milliseconds since the epoch, not by the clock of the browser; a component that reads it is rendered each second. */
export function agentNow(): number {
  return tick.value + agentTimeOrigin.value;
}
