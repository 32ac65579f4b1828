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
  /** Reads the current problem; undefined for a component that reports its state itself. */
  readonly problem: ReadProblem | undefined;
}

/** The probes that a component in state ERROR fails: both, only readiness, or none. */
export type Probe = 'liveness' | 'readiness' | 'none';

/** The current problem of a component; undefined: it is OK. */
export type ReadProblem = () => string | undefined;

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
    const component = this.#add(name, affects, undefined);
    return (state, error) => this.#report(component, state, error);
  }

  /** Adds a component whose state is read with each request, so that it is never outdated. */
  registerProblem(name: string, affects: Probe, problem: ReadProblem): void {
    this.#add(name, affects, problem);
  }

  /** State of a registered component. */
  component(name: string): { readonly state: ComponentState; readonly error: string | undefined } {
    const { state, error } = this.#components.get(name)!;
    return { state, error };
  }

  /**
   * State of all components together, without those that fail no probe: any error is an error, else
   * any init is init.
   */
  get state(): ComponentState {
    return this.#worst((component) => component.affects !== 'none');
  }

  /** Whether no component that affects liveness is in state ERROR; `init` does not fail liveness. */
  get isAlive(): boolean {
    return this.#worst((component) => component.affects === 'liveness') !== 'error';
  }

  get isReady(): boolean {
    this.#readProblems();
    return this.state === 'ok';
  }

  #add(name: string, affects: Probe, problem: ReadProblem | undefined): Component {
    const now = this.#seconds();
    const component: Component = {
      state: problem ? 'ok' : 'init',
      error: undefined,
      lastChange: now,
      lastUpdate: now,
      affects,
      problem,
    };
    this.#components.set(name, component);
    return component;
  }

  #readProblems(): void {
    for (const component of this.#components.values()) {
      if (!component.problem) continue;
      const problem = component.problem();
      this.#report(component, problem === undefined ? 'ok' : 'error', problem);
    }
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
    this.#readProblems();
    const nonFatal = [...this.#components]
      .filter(([, { affects }]) => affects === 'none')
      .map(([name]) => name);
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
      NonFatalPlugins: nonFatal.length === 0 ? null : nonFatal,
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
