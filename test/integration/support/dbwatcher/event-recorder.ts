/** The events of a watcher as numbers: each value carries a number, and each number is written once. */
import assert from 'node:assert/strict';
import type { Event } from '#plugins/controller/api/event.ts';
import { DbResync, ExternalConfigChange, KubeStateChange } from '#plugins/controller/api/events.ts';
import { AGENT_PREFIX, KSR } from '#test/plugins/dbwatcher/watcher-harness.ts';
import { idleLoop } from '#test/support/idle-loop.ts';

/** Number of the value, by full key. */
export type State = Map<string, number>;

/** The events from one resync to the next. */
export interface RecordedSession {
  readonly snapshot: ReadonlyMap<string, number>;
  readonly changes: { readonly key: string; readonly number: number | undefined }[];
}

/** Replaces the event loop: records the events that the watcher pushes. */
export class EventRecorder {
  sessions: RecordedSession[] = [];
  state: State = new Map();
  resyncs = 0;
  changes = 0;

  readonly isIdle = true;
  readonly queueLength = 0;

  whenShorterThan = idleLoop.whenShorterThan;

  push(event: Event): void {
    if (DbResync.is(event)) {
      const { kubeState, externalConfig } = event.payload;
      this.state = new Map([
        ...Object.entries(kubeState['namespace'] ?? {}).map(
          ([key, value]) => [KSR + key, numberOf(value)] as const,
        ),
        ...Object.entries(externalConfig).map(
          ([key, value]) => [AGENT_PREFIX + key, numberOf(value)] as const,
        ),
      ]);
      this.resyncs++;
      this.sessions.push({ snapshot: new Map(this.state), changes: [] });
    } else if (KubeStateChange.is(event))
      this.#change(KSR + event.payload.key, event.payload.current);
    else if (ExternalConfigChange.is(event))
      for (const [key, value] of Object.entries(event.payload.values))
        this.#change(AGENT_PREFIX + key, value ?? undefined);
  }

  /** Drops the sessions that were checked. */
  startSession(): void {
    this.sessions = [{ snapshot: new Map(this.state), changes: [] }];
  }

  /** The next event must be a resync. */
  expectResync(): void {
    this.sessions = [];
  }

  #change(key: string, value: object | undefined): void {
    const number = value && numberOf(value);
    if (number === undefined) this.state.delete(key);
    else this.state.set(key, number);
    this.changes++;
    const session = this.sessions.at(-1);
    assert.ok(session, 'a change of the database before the restore');
    session.changes.push({ key, number });
  }
}

export function numberOf(value: object): number {
  const { mtu, label } = value as { mtu?: number; label?: { value: string }[] };
  return mtu ?? Number(label?.[0]?.value);
}

export function numberIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : numberOf(JSON.parse(text));
}
