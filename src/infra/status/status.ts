/**
 * The status check: each part reports its own state, the agent's is the logical AND over all.
 * (The Go agent took the state reported last for the whole, so that one OK hid another's ERROR.)
 */
import type { Clock } from '../clock/clock.ts';
import { errorText } from '../errors/errors.ts';

export type ComponentState = 'init' | 'ok' | 'error';

/** Numbers of the states in JSON. */
const numbers: Readonly<Record<ComponentState, number>> = { init: 0, ok: 1, error: 2 };

interface Component {
  state: ComponentState;
  error: string | undefined;
  /** Unix seconds. */
  lastChange: number;
  lastUpdate: number;
  readonly affects: Probe;
}

/** Which probe a part in ERROR fails: both, or only readiness (its trouble is not the agent's). */
export type Probe = 'liveness' | 'readiness';

export interface BuildInfo {
  readonly version: string;
  readonly date: string;
  readonly commit: string;
}

/** Reports the state of one part. */
export type ReportState = (state: ComponentState, error?: unknown) => void;

export class StatusCheck {
  readonly #clock: Clock;
  readonly #build: BuildInfo;
  readonly #start: number;
  readonly #parts = new Map<string, Component>();
  #lastChange: number;

  constructor(clock: Clock, build: BuildInfo) {
    this.#clock = clock;
    this.#build = build;
    this.#start = this.#seconds();
    this.#lastChange = this.#start;
  }

  /** A part takes part in the status from now on, in state `init`. */
  register(name: string, affects: Probe): ReportState {
    const now = this.#seconds();
    const component: Component = {
      state: 'init',
      error: undefined,
      lastChange: now,
      lastUpdate: now,
      affects,
    };
    this.#parts.set(name, component);
    return (state, error) => this.#report(component, state, error);
  }

  /** State of one part, which must be registered. */
  part(name: string): { readonly state: ComponentState; readonly error: string | undefined } {
    const { state, error } = this.#parts.get(name)!;
    return { state, error };
  }

  /** State of all parts together: any error is an error, any init is init. */
  get state(): ComponentState {
    return this.#worst(() => true);
  }

  /** Whether the agent should be left running: no part is lost. Init is no reason to kill it. */
  get isAlive(): boolean {
    return this.#worst((part) => part.affects === 'liveness') !== 'error';
  }

  get isReady(): boolean {
    return this.state === 'ok';
  }

  #worst(counts: (part: Component) => boolean): ComponentState {
    let worst: ComponentState = 'ok';
    for (const part of this.#parts.values()) {
      if (!counts(part)) continue;
      if (part.state === 'error') return 'error';
      if (part.state === 'init') worst = 'init';
    }
    return worst;
  }

  #report(part: Component, state: ComponentState, error: unknown): void {
    const now = this.#seconds();
    const text = error === undefined ? undefined : errorText(error);
    part.lastUpdate = now;
    if (part.state === state && part.error === text) return;
    const before = this.state;
    part.state = state;
    part.error = text;
    part.lastChange = now;
    if (this.state !== before) this.#lastChange = now;
  }

  /** The document of both probes; fields that are zero are left out, as Go's encoder does. */
  document(): Record<string, unknown> {
    const parts = [...this.#parts].map(
      ([name, part]) => [name, componentDocument(name, part)] as const,
    );
    return {
      ...nonZero({
        build_version: this.#build.version,
        build_date: this.#build.date,
        state: numbers[this.state],
        start_time: this.#start,
        last_change: this.#lastChange,
        last_update: this.#seconds(),
        commit_hash: this.#build.commit,
      }),
      plugins: parts.map(([name, { state, error }]) => nonZero({ name, state, error })),
      PluginStatus: Object.fromEntries(parts),
      NonFatalPlugins: null,
    };
  }

  #seconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}

function componentDocument(name: string, part: Component): Record<string, unknown> {
  return nonZero({
    name,
    state: numbers[part.state],
    last_change: part.lastChange,
    last_update: part.lastUpdate,
    error: part.error,
  });
}

function nonZero(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== 0 && value !== '' && value !== undefined,
    ),
  );
}
