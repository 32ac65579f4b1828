/** What was told, held against what has happened. */
import assert from 'node:assert/strict';
import { AGENT_PREFIX, KSR } from '#test/plugins/dbwatcher/harness.ts';
import { numberIn, type RecordedSession, type State } from './event-recorder.ts';
import type { ReferenceWatch } from './reference-watch.ts';

/** Below which the watcher watches. */
export const prefixes = [KSR, AGENT_PREFIX];

/** Between two resyncs every change once and in order; each resync a state that once was. */
export function assertCompleteAndOrdered(
  sessions: readonly RecordedSession[],
  witness: ReferenceWatch,
): void {
  for (const prefix of prefixes) {
    const history = witness
      .history(prefix)
      .map(({ key, text }) => ({ key, number: numberIn(text) }));
    const base = new Map([...witness.base(prefix)].map(([key, text]) => [key, numberIn(text)!]));
    for (const [at, session] of sessions.entries()) {
      const changes = session.changes.filter(({ key }) => key.startsWith(prefix));
      const snapshot = new Map([...session.snapshot].filter(([key]) => key.startsWith(prefix)));
      const starts = startsOf(base, history, snapshot);
      assert.ok(starts.length > 0, `resync ${at} below ${prefix} is no state that ever was`);
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

/** How many changes lie before the states that are equal to this one; the latest last. */
function startsOf(
  base: ReadonlyMap<string, number>,
  history: RecordedSession['changes'],
  wanted: ReadonlyMap<string, number>,
): number[] {
  const state: State = new Map(base);
  const starts: number[] = isSame(state, wanted) ? [0] : [];
  for (const [at, { key, number }] of history.entries()) {
    if (number === undefined) state.delete(key);
    else state.set(key, number);
    if (isSame(state, wanted)) starts.push(at + 1);
  }
  return starts;
}

/** Whether two states say the same. */
export function isSame(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, number] of a) if (b.get(key) !== number) return false;
  return true;
}
