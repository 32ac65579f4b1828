/**
 * The status check: each component reports its own state; the state of the agent is the worst of
 * them. (The Go agent used the state reported last, so that one OK hid another component's ERROR.)
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

/** The probes that a component in state ERROR fails: both, or only readiness. */
export type Probe = 'liveness' | 'readiness';

export interface BuildInfo {
  readonly version: string;
  readonly date: string;
  readonly commit: string;
}

/** Reports the state of one component. */
export type ReportState = (state: ComponentState, error?: unknown) => void;

export class StatusCheck {
  readonly #clock: Clock;
  readonly #build: BuildInfo;
  readonly #start: number;
  readonly #components = new Map<string, Component>();
  #lastChange: number;

  constructor(clock: Clock, build: BuildInfo) {
    this.#clock = clock;
    this.#build = build;
    this.#start = this.#seconds();
    this.#lastChange = this.#start;
  }

  /** Adds a component to the status, in state `init`. */
  register(name: string, affects: Probe): ReportState {
    const now = this.#seconds();
    const component: Component = {
      state: 'init',
      error: undefined,
      lastChange: now,
      lastUpdate: now,
      affects,
    };
    this.#components.set(name, component);
    return (state, error) => this.#report(component, state, error);
  }

  /** State of a registered component. */
  component(name: string): { readonly state: ComponentState; readonly error: string | undefined } {
    const { state, error } = this.#components.get(name)!;
    return { state, error };
  }

  /** State of all components together: any error is an error, else any init is init. */
  get state(): ComponentState {
    return this.#worst(() => true);
  }

  /** Whether no component that affects liveness is in state ERROR; `init` does not fail liveness. */
  get isAlive(): boolean {
    return this.#worst((component) => component.affects === 'liveness') !== 'error';
  }

  get isReady(): boolean {
    return this.state === 'ok';
  }

  #worst(counts: (component: Component) => boolean): ComponentState {
    let worst: ComponentState = 'ok';
    for (const component of this.#components.values()) {
      if (!counts(component)) continue;
      if (component.state === 'error') return 'error';
      if (component.state === 'init') worst = 'init';
    }
    return worst;
  }

  #report(component: Component, state: ComponentState, error: unknown): void {
    const now = this.#seconds();
    const text = error === undefined ? undefined : errorText(error);
    component.lastUpdate = now;
    if (component.state === state && component.error === text) return;
    const before = this.state;
    component.state = state;
    component.error = text;
    component.lastChange = now;
    if (this.state !== before) this.#lastChange = now;
  }

  /** The document of both probes; omits zero fields, as Go's encoder does. */
  document(): Record<string, unknown> {
    const components = [...this.#components].map(
      ([name, component]) => [name, componentDocument(name, component)] as const,
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
      plugins: components.map(([name, { state, error }]) => nonZero({ name, state, error })),
      PluginStatus: Object.fromEntries(components),
      NonFatalPlugins: null,
    };
  }

  #seconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}

function componentDocument(name: string, component: Component): Record<string, unknown> {
  return nonZero({
    name,
    state: numbers[component.state],
    last_change: component.lastChange,
    last_update: component.lastUpdate,
    error: component.error,
  });
}

function nonZero(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== 0 && value !== '' && value !== undefined,
    ),
  );
}
