/**
 * Coded errors. An error has a class and a stable code, and says what failed, where, why, and what
 * to do. Define a class once, next to the code that throws it; `docs/errors.md` lists all classes
 * and a test compares that list with the source.
 *
 * Code that reacts to an error reads its traits, not its code: a new error then needs no change in
 * the code that handles it.
 */

/** Facts about an error for the code that handles it. */
export interface ErrorTraits {
  /**
   * `unknown`: the operation may or may not have taken place, for example because the reply is
   * missing. The value has to be read back before the next operation on it.
   */
  readonly outcome: 'failed' | 'unknown';
  /**
   * `true`: the same call succeeds later without any other change. `false`: every retry fails in
   * the same way. `undefined`: not known, so a retry is worth an attempt.
   */
  readonly isRetriable: boolean | undefined;
  /**
   * The missing precondition of the operation. `southbound`: the connection to VPP; the reconnect
   * starts a resync. `environment`: the environment of the object, such as a network namespace, is
   * deleted and does not return.
   */
  readonly unavailable: 'southbound' | 'environment' | undefined;
  /** `configuration`: a configuration or an argument of a program is invalid. */
  readonly rejects: 'configuration' | undefined;
  /** HTTP status of the reply to a request that fails with it. */
  readonly status: number;
}

/** Base class of all errors of the project. */
export abstract class CodedError extends Error implements ErrorTraits {
  /** Stable and greppable: `CV_` and upper case. Scripts and alerts may rely on it. */
  abstract readonly code: string;
  /** The action that helps the reader. */
  abstract readonly remedy: string;
  /** The key, file:line, message or interface that the error is about. */
  readonly where: string | undefined;

  constructor(message: string, options: ErrorDetails = {}) {
    super(options.where === undefined ? message : `${options.where}: ${message}`, {
      cause: options.cause,
    });
    this.where = options.where;
  }

  // The traits are accessors of the class: a logged error lists its own properties only.
  get outcome(): ErrorTraits['outcome'] {
    return 'failed';
  }

  get isRetriable(): ErrorTraits['isRetriable'] {
    return undefined;
  }

  get unavailable(): ErrorTraits['unavailable'] {
    return undefined;
  }

  get rejects(): ErrorTraits['rejects'] {
    return undefined;
  }

  get status(): number {
    return 500;
  }
}

export interface ErrorDetails {
  readonly where?: string | undefined;
  readonly cause?: unknown;
}

export interface ErrorSpec extends Partial<ErrorTraits> {
  readonly name: string;
  readonly code: `CV_${string}`;
  readonly remedy: string;
}

export type CodedErrorClass = new (message: string, details?: ErrorDetails) => CodedError;

const classes = new Map<string, CodedErrorClass>();

/** The class of a code; undefined when the module that defines it is not loaded. */
export function errorClass(code: string): CodedErrorClass | undefined {
  return classes.get(code);
}

/**
 * Defines an error class. Call it at the top level of a module with a literal spec, one line per
 * property: the documentation check parses the source.
 */
export function defineError(spec: ErrorSpec): CodedErrorClass {
  const defined = class extends CodedError {
    readonly code = spec.code;
    readonly remedy = spec.remedy;
    override readonly name = spec.name;

    override get outcome() {
      return spec.outcome ?? super.outcome;
    }

    override get isRetriable() {
      return spec.isRetriable;
    }

    override get unavailable() {
      return spec.unavailable;
    }

    override get rejects() {
      return spec.rejects;
    }

    override get status() {
      return spec.status ?? super.status;
    }
  };
  Object.defineProperty(defined, 'name', { value: spec.name });
  classes.set(spec.code, defined);
  return defined;
}

/**
 * Whether only a defect of the agent explains what was thrown. Errors of the project and of the
 * operating system (with `syscall`) are foreseen: they have a cause outside of the agent.
 */
export function isDefect(thrown: unknown): boolean {
  if (thrown instanceof AggregateError) return thrown.errors.some(isDefect);
  if (thrown instanceof CodedError) return false;
  return !(thrown instanceof Error && 'syscall' in thrown);
}

/** The traits of anything that was thrown; empty when it is not an error of the project. */
export function traitsOf(thrown: unknown): Partial<ErrorTraits> {
  return thrown instanceof CodedError ? thrown : {};
}

/** Whether the environment of what failed, such as a network namespace, does not exist any more. */
export function isGone(thrown: unknown): boolean {
  return traitsOf(thrown).unavailable === 'environment';
}

/** The text of anything that was thrown. */
export function errorText(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return String(thrown);
}
