/**
 * Errors have a class and a stable code, and say what was wrong, where, and what to do. A class is
 * made once, next to the code that throws it; `docs/errors.md` lists them all and a test holds the
 * two against each other.
 */

/** What every error of the project carries. */
export abstract class CodedError extends Error {
  /** Stable and greppable: `CV_` and upper case. Scripts and alerts may rely on it. */
  abstract readonly code: string;
  /** What the reader can do about it. */
  abstract readonly remedy: string;
  /** The key, file:line, message, interface … that the error is about. */
  readonly where: string | undefined;

  constructor(message: string, options: ErrorDetails = {}) {
    super(options.where === undefined ? message : `${options.where}: ${message}`, {
      cause: options.cause,
    });
    this.where = options.where;
  }
}

export interface ErrorDetails {
  readonly where?: string | undefined;
  readonly cause?: unknown;
}

export interface ErrorSpec {
  readonly name: string;
  readonly code: `CV_${string}`;
  readonly remedy: string;
}

export type CodedErrorClass = new (message: string, details?: ErrorDetails) => CodedError;

const classes = new Map<string, CodedErrorClass>();

/** The class of a code, if the module that defines it was loaded. */
export function errorClass(code: string): CodedErrorClass | undefined {
  return classes.get(code);
}

/**
 * Makes an error class. Call it at the top level of a module with a literal spec, on one line per
 * property: the documentation check reads the source.
 */
export function defineError(spec: ErrorSpec): CodedErrorClass {
  const made = class extends CodedError {
    readonly code = spec.code;
    readonly remedy = spec.remedy;
    override readonly name = spec.name;
  };
  Object.defineProperty(made, 'name', { value: spec.name });
  classes.set(spec.code, made);
  return made;
}

/** The text of anything that was thrown. */
export function errorText(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return String(thrown);
}
