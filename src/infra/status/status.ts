/**
 * The status check: each component reports its own state, or has it read. The states together are the
 * state of the agent. (The Go agent used the state reported last, so that one OK hid another
 * component's ERROR.)
 */
import type { Clock } from '../clock/clock.ts';
import { errorText } from '../errors/errors.ts';

export type ComponentState = 'init' | 'ok' | 'error';

/**
 * Consequence of a component in state ERROR, each with those after it: it fails liveness, because the
 * agent must be restarted; the state of the agent; only readiness; or nothing. The last two are not
 * fatal: the agent does its work without the component.
 */
export type Affects = 'liveness' | 'state' | 'readiness' | 'none';

export interface ComponentStatus {
  readonly name: string;
  readonly affects: Affects;
  readonly state: ComponentState;
  readonly error: string | undefined;
  /** Of the state, not of the text of an error: since when it is at fault. Unix seconds. */
  readonly lastChange: number;
  /** Last report or read. */
  readonly lastUpdate: number;
}

/** The state of several components together. */
export interface CombinedStatus {
  readonly state: ComponentState;
  /** Unix seconds. */
  readonly lastChange: number;
}

/** The current problem of a component; undefined: it is OK. */
export type ReadProblem = () => string | undefined;

export interface BuildInfo {
  readonly version: string;
  readonly date: string;
  readonly commit: string;
}

/** Reports the state of one component. */
export type ReportState = (state: ComponentState, error?: unknown) => void;

interface Component {
  status: ComponentStatus;
  /** undefined for a component that reports its state itself. */
  readonly problem: ReadProblem | undefined;
}

type Counts = (component: ComponentStatus) => boolean;

const countsForLiveness: Counts = ({ affects }) => affects === 'liveness';
const countsForState: Counts = (one) => countsForLiveness(one) || one.affects === 'state';
const countsForReadiness: Counts = ({ affects }) => affects !== 'none';

/** Whether an ERROR of the component is one of the agent. */
export const isFatal = countsForState;

export class StatusCheck {
  readonly build: BuildInfo;
  /** Unix seconds. */
  readonly start: number;
  readonly #clock: Clock;
  readonly #components = new Map<string, Component>();
  readonly #listeners: ((name: string) => void)[] = [];
  #overall: CombinedStatus;
  #readiness: CombinedStatus;

  constructor(clock: Clock, build: BuildInfo) {
    this.build = build;
    this.#clock = clock;
    this.start = this.now();
    this.#overall = { state: 'ok', lastChange: this.start };
    this.#readiness = this.#overall;
  }

  /** Adds a component that reports its state; until it does, the state is `init`. */
  register(name: string, affects: Affects): ReportState {
    this.#add(name, affects, undefined);
    return (state, error) => this.#report(name, state, error);
  }

  /** Adds a component whose state is read with each request and each probe, so it is never outdated. */
  registerProblem(name: string, affects: Affects, problem: ReadProblem): void {
    this.#add(name, affects, problem);
  }

  /** The listener is called with the name of each component whose state or error has changed. */
  onChange(listener: (name: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Reads the state of all components that do not report it. */
  readProblems(): void {
    for (const [name, { problem }] of this.#components) {
      if (!problem) continue;
      const text = readable(problem);
      this.#report(name, text === undefined ? 'ok' : 'error', text);
    }
  }

  /** A registered component, as it was reported or read last. */
  component(name: string): ComponentStatus {
    return this.#components.get(name)!.status;
  }

  /** All components, as they were reported or read last. */
  get components(): ComponentStatus[] {
    return [...this.#components.values()].map(({ status }) => status);
  }

  /** The state of the agent: any error of a fatal component is an error, else any init is init. */
  get overall(): CombinedStatus {
    return this.#overall;
  }

  /** The same, over all components that affect readiness. */
  get readiness(): CombinedStatus {
    return this.#readiness;
  }

  /** Whether no component that affects liveness is in state ERROR; `init` does not fail liveness. */
  get isAlive(): boolean {
    return this.#worst(countsForLiveness) !== 'error';
  }

  /** Unix seconds. */
  now(): number {
    return Math.floor(this.#clock.wallTime() / 1000);
  }

  #add(name: string, affects: Affects, problem: ReadProblem | undefined): void {
    const now = this.now();
    const state = problem ? 'ok' : 'init';
    const status = { name, affects, state, error: undefined, lastChange: now, lastUpdate: now };
    this.#components.set(name, { status: status as ComponentStatus, problem });
    this.#combine(now);
  }

  #report(name: string, state: ComponentState, error: unknown): void {
    const component = this.#components.get(name)!;
    const before = component.status;
    const now = this.now();
    const text = error === undefined ? undefined : errorText(error);
    const lastChange = state === before.state ? before.lastChange : now;
    component.status = { ...before, state, error: text, lastChange, lastUpdate: now };
    if (state === before.state && text === before.error) return;
    this.#combine(now);
    for (const listener of this.#listeners) listener(name);
  }

  #combine(now: number): void {
    const combined = (before: CombinedStatus, counts: Counts): CombinedStatus => {
      const state = this.#worst(counts);
      return state === before.state ? before : { state, lastChange: now };
    };
    this.#overall = combined(this.#overall, countsForState);
    this.#readiness = combined(this.#readiness, countsForReadiness);
  }

  #worst(counts: Counts): ComponentState {
    let worst: ComponentState = 'ok';
    for (const { status } of this.#components.values()) {
      if (!counts(status)) continue;
      if (status.state === 'error') return 'error';
      if (status.state === 'init') worst = 'init';
    }
    return worst;
  }
}

/** A defect in one component must not end the agent, nor hide the state of the others. */
function readable(problem: ReadProblem): string | undefined {
  try {
    return problem();
  } catch (thrown) {
    return `its state cannot be read: ${errorText(thrown)}`;
  }
}
