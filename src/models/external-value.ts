/**
 * The check of an external value, besides the rules of its model. Its texts become parts of keys, names in VPP,
 * lines of logs and documents: none may have a line break or another control character, or any length.
 */
import { isIncompleteKey } from './key-template.ts';
import { InvalidModelError } from './model.ts';

/** A path in Linux has no more. */
const MAX_BYTES = 4096;
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

interface KeyedModel {
  key(value: object): string;
}

/**
 * @param where the key or item for the error
 * @returns the key of the value
 * @throws InvalidModelError
 */
export function externalKey(model: KeyedModel, value: object, where: string): string {
  checkTexts(value, '', where);
  const key = model.key(value);
  if (isIncompleteKey(key)) throw new InvalidModelError('a field of its key is not set', { where });
  return key;
}

function checkTexts(value: unknown, path: string, where: string): void {
  if (typeof value === 'string') {
    const reason = problemOf(value);
    if (reason !== undefined) throw new InvalidModelError(`${path}: ${reason}`, { where });
  } else if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value)) {
      // the name is a text of the writer if the field is a map
      checkTexts(name, path, where);
      checkTexts(inner, path === '' ? name : `${path}.${name}`, where);
    }
}

function problemOf(text: string): string | undefined {
  if (text.length > MAX_BYTES || Buffer.byteLength(text) > MAX_BYTES)
    return `longer than ${MAX_BYTES} bytes`;
  return CONTROL.test(text) ? 'contains a control character or a line break' : undefined;
}
