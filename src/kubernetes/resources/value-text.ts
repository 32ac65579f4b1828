import type { Resource } from './resources.ts';

const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/**
 * A value as it stands in the datastore: byte for byte what the original writes, which escapes more
 * than JSON asks for.
 */
export function valueText<T extends object>(resource: Resource<T>, value: T): string {
  const text = JSON.stringify(resource.model.toJson(value));
  return text.replace(/[<>&\u2028\u2029]/g, (character) => escapes[character] as string);
}
