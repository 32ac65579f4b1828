import { InvalidMessageError } from '../api.ts';

/** The name of a field, or the index of an element. */
export type PathStep = string | number;

/** What is wrong with a value, and where in the message: the path grows while the stack unwinds. */
export class FieldError extends Error {
  readonly path: PathStep[] = [];
}

/** Puts a step in front of the path of a fault; anything else passes unchanged. */
export function withPath(thrown: unknown, step: PathStep): unknown {
  if (thrown instanceof FieldError) thrown.path.unshift(step);
  return thrown;
}

export function fieldErrorAt(field: PathStep, reason: string): FieldError {
  return withPath(new FieldError(reason), field) as FieldError;
}

/** The fault of a value that does not fit its field. */
export function typeMismatch(field: PathStep, value: unknown, wanted: string): FieldError {
  if (value === undefined) return fieldErrorAt(field, `is missing (${wanted})`);
  return fieldErrorAt(field, `${describe(value)} is not ${wanted}`);
}

function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Uint8Array) return `a byte array of ${value.length}`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

/** Turns a fault into the error that callers see; anything else passes unchanged. */
export function invalidMessage(message: string, thrown: unknown): unknown {
  if (!(thrown instanceof FieldError)) return thrown;
  const path = thrown.path.reduce<string>(
    (text, step) => text + (typeof step === 'number' ? `[${step}]` : `.${step}`),
    message,
  );
  return new InvalidMessageError(thrown.message, { where: path });
}
