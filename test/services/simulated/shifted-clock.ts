import type { Clock } from '#infra/clock/clock.ts';
import { systemClock } from '#infra/clock/system.ts';

/** The clock of the machine, which a test can set forward. Timers are not affected. */
export class ShiftedClock implements Clock {
  #shift = 0;

  pass(seconds: number): void {
    this.#shift += seconds * 1000;
  }

  now(): number {
    return systemClock.now() + this.#shift;
  }

  wallTime(): number {
    return systemClock.wallTime() + this.#shift;
  }

  monotonic(): number {
    return systemClock.monotonic() + this.#shift;
  }

  timer: Clock['timer'] = systemClock.timer;
  sleep: Clock['sleep'] = systemClock.sleep;
  turn: Clock['turn'] = systemClock.turn;
}
