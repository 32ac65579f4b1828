/** Compares the events of the watcher with the changes of the reference watch. */
import assert from 'node:assert/strict';
import { AGENT_PREFIX, KSR } from '#test/plugins/dbwatcher/watcher-harness.ts';
import { numberIn, type RecordedSession, type State } from './event-recorder.ts';
import type { ReferenceWatch } from './reference-watch.ts';

/** Prefixes that the watcher watches. */
export const prefixes = [KSR, AGENT_PREFIX];

/** Between two resyncs: every change once and in order. Each resync: a state that existed. */
export function assertCompleteAndOrdered(
  sessions: readonly RecordedSession[],
  reference: ReferenceWatch,
): void {
  for (const prefix of prefixes) {
    const history = reference
      .history(prefix)
      .map(({ key, text }) => ({ key, number: numberIn(text) }));
    const base = new Map([...reference.base(prefix)].map(([key, text]) => [key, numberIn(text)!]));
    for (const [at, session] of sessions.entries()) {
      const changes = session.changes.filter(({ key }) => key.startsWith(prefix));
      const snapshot = new Map([...session.snapshot].filter(([key]) => key.startsWith(prefix)));
      const starts = startsOf(base, history, snapshot);
      assert.ok(starts.length > 0, `resync ${at} below ${prefix} is a state that never existed`);
      const fits = starts.some((start) =>
        changes.every(({ key, number }, n) => {
          const one = history[start + n];
          return one?.key === key && one.number === number;
        }),
      );
      if (fits) continue;
      const start = starts.at(-1)!;
      assert.deepEqual(changes, history.slice(start, start + changes.length));
    }
  }
}

/** Positions in the history at which the state equals this one, in order. */
function startsOf(
  base: ReadonlyMap<string, number>,
  history: RecordedSession['changes'],
  expected: ReadonlyMap<string, number>,
): number[] {
  const state: State = new Map(base);
  const starts: number[] = isSame(state, expected) ? [0] : [];
  for (const [at, { key, number }] of history.entries()) {
    if (number === undefined) state.delete(key);
    else state.set(key, number);
    if (isSame(state, expected)) starts.push(at + 1);
  }
  return starts;
}

/** Whether two states are equal. */
export function isSame(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, number] of a) if (b.get(key) !== number) return false;
  return true;
}
