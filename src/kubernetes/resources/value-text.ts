import type { Resource } from './resources.ts';

const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/**
 * A value as stored in the datastore: byte for byte as the original writes it. Go escapes more
 * characters than JSON requires.
 */
export function valueText<T extends object>(resource: Resource<T>, value: T): string {
  const text = JSON.stringify(resource.model.toJson(value));
  return text.replace(/[<>&\u2028\u2029]/g, (character) => escapes[character] as string);
}
