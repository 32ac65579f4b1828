/** Converts schema errors to a text for the author of the object. */
import type { TLocalizedValidationError } from 'typebox/error';

/**
 * Describes the first invalid field: `spec.ports[0].port is "http", must be integer`.
 * @param object what was validated
 * @param at its path, if it is a part of an object
 */
export function schemaErrorText(
  errors: readonly TLocalizedValidationError[],
  object: unknown,
  at = '',
): string {
  const first = errors[0];
  if (first === undefined) return 'does not match the schema of its kind';
  const here = errors.filter((error) => error.instancePath === first.instancePath);
  const expected = [...new Set(here.flatMap(expectation))].join(' or ');
  const steps = first.instancePath.split('/').slice(1).map(unescaped);
  const path = steps.reduce(
    (text, step) =>
      /^\d+$/.test(step) ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`,
    at,
  );
  if (first.keyword === 'required') return path === '' ? expected : `${path} ${expected}`;
  return `${path} is ${describe(valueAt(object, steps))}, ${expected}`;
}

function expectation(error: TLocalizedValidationError): string[] {
  switch (error.keyword) {
    // its alternatives have errors of their own
    case 'anyOf':
      return [];
    case 'enum':
      return [`must be one of ${error.params.allowedValues.join(', ')}`];
    case 'required':
      return [`must have ${error.params.requiredProperties.join(', ')}`];
    // of a strict object
    case 'boolean':
      return ['an unknown field'];
    case 'pattern':
      return ['must be a Kubernetes name'];
    default:
      return [error.message];
  }
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

function valueAt(object: unknown, steps: readonly string[]): unknown {
  let value = object;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}

/** Short enough for one line. */
function describe(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
