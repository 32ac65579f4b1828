import type { MessageType } from '#models/message.ts';

/**
 * Go writes an allocated empty map as `{}`, and the original reflector always allocates some of its
 * maps. Readers do not distinguish the two; a comparison of bytes does.
 */
export function withEmptyMap<T extends object>(
  json: unknown,
  message: MessageType<T>,
  field: keyof T & string,
): object {
  const written = json as Readonly<Record<string, unknown>>;
  if (Object.hasOwn(written, field)) return written;
  const ordered: Record<string, unknown> = {};
  for (const { name } of message.reflection().fieldsArray) {
    if (name === field) ordered[name] = {};
    else if (Object.hasOwn(written, name)) ordered[name] = written[name];
  }
  return ordered;
}
