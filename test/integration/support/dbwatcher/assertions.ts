/** Compares the events of the watcher with the changes of the reference watch. */
import assert from 'node:assert/strict';
import { AGENT_PREFIX, KSR } from '#test/plugins/dbwatcher/watcher-harness.ts';
import { numberIn, type RecordedSession, type State } from './event-recorder.ts';
import type { ReferenceWatch } from './reference-watch.ts';

/** Prefixes that the watcher watches. */
export const prefixes = [KSR, AGENT_PREFIX];

/**
 * Between two resyncs: changes in order, each once; one that another of the same key follows may be missing. That none
 * else is missing shows in the state at the end. Each resync: a state that existed.
 */
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
      if (starts.some((start) => areInOrder(changes, history.slice(start)))) continue;
      assert.deepEqual(changes, history.slice(starts.at(-1)!));
    }
  }
}

type Changes = RecordedSession['changes'];

/** Whether these changes are among the others, in the same order. */
function areInOrder(changes: Changes, history: Changes): boolean {
  let at = 0;
  return changes.every(({ key, number }) => {
    while (at < history.length && !(history[at]!.key === key && history[at]!.number === number))
      at++;
    return at++ < history.length;
  });
}

/** Positions in the history at which the state equals this one, in order. */
function startsOf(
  base: ReadonlyMap<string, number>,
  history: Changes,
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
