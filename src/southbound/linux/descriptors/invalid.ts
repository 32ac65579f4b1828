import { InvalidValueError } from '#kvscheduler/api.ts';

/** Throws unless the condition holds. @param key names the value in the error */
export function require(key: string, condition: boolean, otherwise: string): void {
  if (!condition) throw new InvalidValueError(otherwise, { where: key });
}
