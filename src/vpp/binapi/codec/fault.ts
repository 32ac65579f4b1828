import { InvalidMessageError } from '../api.ts';

/** The name of a field, or the index of an element. */
export type Step = string | number;

/** What is wrong with a value, and where in the message: the path grows while the stack unwinds. */
export class Fault extends Error {
  readonly path: Step[] = [];
}

/** Puts a step in front of the path of a fault; anything else passes unchanged. */
export function within(thrown: unknown, step: Step): unknown {
  if (thrown instanceof Fault) thrown.path.unshift(step);
  return thrown;
}

export function faultAt(field: Step, reason: string): Fault {
  return within(new Fault(reason), field) as Fault;
}

/** The fault of a value that does not fit its field. */
export function misfit(field: Step, value: unknown, wanted: string): Fault {
  if (value === undefined) return faultAt(field, `is missing (${wanted})`);
  return faultAt(field, `${shown(value)} is not ${wanted}`);
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Uint8Array) return `a byte array of ${value.length}`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

/** Turns a fault into the error that callers see; anything else passes unchanged. */
export function invalidMessage(message: string, thrown: unknown): unknown {
  if (!(thrown instanceof Fault)) return thrown;
  const path = thrown.path.reduce<string>(
    (text, step) => text + (typeof step === 'number' ? `[${step}]` : `.${step}`),
    message,
  );
  return new InvalidMessageError(thrown.message, { where: path });
}
