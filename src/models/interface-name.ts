import { cleanKey } from './key-template.ts';
import type { TextRule } from './rules.ts';

/**
 * The name of an interface as its key contains it: keys of the original agent have no repeated slashes and none
 * at the end, so `a//b` and `a/b` name the same interface.
 */
export const interfaceNameRule: TextRule = (name) => {
  const cleaned = cleanKey(name).replace(/^\//, '');
  // slashes alone name no interface, unlike an empty text, which means none
  return cleaned === '' ? name : cleaned;
};
