/** Work that is done again and again from the start of the process to its end; after failures less often. */
import { Backoff } from '../clock/backoff.ts';
import type { Clock, Random } from '../clock/clock.ts';
import type { Component } from './lifecycle.ts';

const MAX_PAUSE_MS = 60_000;

export interface RepeatedWork {
  readonly name: string;
  readonly intervalMs: number;
  work(): Promise<void>;
  onFailure(thrown: unknown): void;
}

export interface RepeatedWorkDeps {
  readonly clock: Clock;
  readonly random: Random;
}

/** Starts when all components are initialized. One that runs is waited for. */
export function repeatedWork(task: RepeatedWork, { clock, random }: RepeatedWorkDeps): Component {
  const { name, intervalMs } = task;
  const closing = new AbortController();
  const backoff = new Backoff({ firstMs: intervalMs, maxMs: MAX_PAUSE_MS }, random);
  let running: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      let pause = intervalMs;
      try {
        await task.work();
        backoff.reset();
      } catch (thrown) {
        pause = backoff.next();
        task.onFailure(thrown);
      }
      await clock.sleep(pause, closing.signal).catch(() => undefined);
    }
  }

  return {
    name,
    afterInit: () => {
      running = run();
    },
    close: async () => {
      closing.abort();
      await running;
    },
  };
}
