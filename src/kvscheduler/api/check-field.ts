import { InvalidValueError } from './descriptor.ts';

/**
 * @param field path of the field in the value
 * @param reason why the field is invalid if the condition does not hold
 * @throws InvalidValueError unless the condition holds
 */
export function checkField(key: string, condition: boolean, field: string, reason: string): void {
  if (!condition) throw new InvalidValueError(reason, { where: key, fields: [field] });
}
