import { InvalidValueError } from '#kvscheduler/api/descriptor.ts';

/**
 * Throws InvalidValueError unless the condition holds.
 * @param field path of the wrong field in the value
 * @param reason what is wrong with it
 */
export function checkField(key: string, condition: boolean, field: string, reason: string): void {
  if (!condition) throw new InvalidValueError(reason, { where: key, fields: [field] });
}
