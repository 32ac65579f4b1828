import type { MessageType } from '#models/message.ts';

/**
 * Go writes a map that was made but stayed empty as `{}`, and the original reflector always makes
 * some of its maps. Readers do not care; comparing bytes does.
 */
export function withEmptyMap<T extends object>(
  json: unknown,
  message: MessageType<T>,
  field: keyof T & string,
): object {
  const written = json as Readonly<Record<string, unknown>>;
  if (Object.hasOwn(written, field)) return written;
  const made: Record<string, unknown> = {};
  for (const { name } of message.reflection().fieldsArray) {
    if (name === field) made[name] = {};
    else if (Object.hasOwn(written, name)) made[name] = written[name];
  }
  return made;
}
