import { InvalidMessageError } from '../api.ts';

/** The name of a field, or the index of an element. */
export type PathStep = string | number;

/** An invalid value and its path in the message: the path is built while the stack unwinds. */
export class FieldError extends Error {
  readonly path: PathStep[] = [];
}

/** Prepends a step to the path of a FieldError; other errors are returned unchanged. */
export function withPath(thrown: unknown, step: PathStep): unknown {
  if (thrown instanceof FieldError) thrown.path.unshift(step);
  return thrown;
}

export function fieldErrorAt(field: PathStep, reason: string): FieldError {
  return withPath(new FieldError(reason), field) as FieldError;
}

/** The error for a value that does not have the type of its field. */
export function typeMismatch(field: PathStep, value: unknown, expected: string): FieldError {
  if (value === undefined) return fieldErrorAt(field, `is missing (${expected})`);
  return fieldErrorAt(field, `${describe(value)} is not ${expected}`);
}

function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Uint8Array) return `a byte array of ${value.length}`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

/** Converts a FieldError to the error for callers; other errors are returned unchanged. */
export function invalidMessage(message: string, thrown: unknown): unknown {
  if (!(thrown instanceof FieldError)) return thrown;
  const path = thrown.path.reduce<string>(
    (text, step) => text + (typeof step === 'number' ? `[${step}]` : `.${step}`),
    message,
  );
  return new InvalidMessageError(thrown.message, { where: path });
}
