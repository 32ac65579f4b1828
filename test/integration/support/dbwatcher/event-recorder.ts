/** What a watcher has told, in numbers: each value carries one, and each is written once. */
import assert from 'node:assert/strict';
import type { Event } from '#plugins/controller/api/event.ts';
import { DbResync, ExternalConfigChange, KubeStateChange } from '#plugins/controller/api/events.ts';
import { AGENT_PREFIX, KSR } from '#test/plugins/dbwatcher/harness.ts';

/** By full key, the number that its value carries; each number is written once. */
export type State = Map<string, number>;

/** From a resync to the next one. */
export interface RecordedSession {
  readonly snapshot: ReadonlyMap<string, number>;
  readonly changes: { readonly key: string; readonly number: number | undefined }[];
}

/** The event loop, as far as the watcher is concerned: knows what it was told. */
export class EventRecorder {
  sessions: RecordedSession[] = [];
  state: State = new Map();
  resyncs = 0;
  changes = 0;

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

  /** What came before is checked and need not be kept. */
  startSession(): void {
    this.sessions = [{ snapshot: new Map(this.state), changes: [] }];
  }

  /** From here on only a resync may come. */
  expectResync(): void {
    this.sessions = [];
  }

  #change(key: string, value: object | undefined): void {
    const number = value && numberOf(value);
    if (number === undefined) this.state.delete(key);
    else this.state.set(key, number);
    this.changes++;
    const session = this.sessions.at(-1);
    assert.ok(session, 'a change of a database that is no more');
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
