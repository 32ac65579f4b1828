/**
 * Rules of a model for its fields, in addition to their types: canonical spelling of texts, and
 * unordered lists. Declared as a tree with the shape of the message.
 */
import type { Secret } from './secret.ts';

/** Returns the canonical spelling; throws FieldError. Never called for an empty text. */
export type TextRule = (text: string) => string;

/** An unordered list: it is sorted by this key, then by the JSON of its elements. */
export interface UnorderedRule<E> {
  readonly sortKey: (element: E) => string | number;
  readonly each: Rule<E> | undefined;
}

export type Rule<V> = V extends string
  ? TextRule
  : V extends Secret
    ? never
    : V extends readonly (infer E)[]
      ? Rule<E> | UnorderedRule<E>
      : V extends object
        ? Rules<V>
        : never;

export type Rules<T> = { readonly [K in keyof T]?: Rule<NonNullable<T[K]>> };

/** Untyped rules, as the compiler uses them. */
export interface BoundRules {
  readonly text: TextRule | undefined;
  readonly sortKey: ((element: never) => string | number) | undefined;
  readonly field: (name: string) => BoundRules;
}

export function unordered<E>(
  sortKey: (element: E) => string | number,
  each?: Rule<E>,
): UnorderedRule<E> {
  return { sortKey, each };
}

/** An unordered list of texts. */
export function unorderedTexts(each?: TextRule): UnorderedRule<string> {
  return { sortKey: (text) => text, each };
}

const noRules: BoundRules = { text: undefined, sortKey: undefined, field: () => noRules };

export function bindRules(rule: unknown): BoundRules {
  if (rule === undefined) return noRules;
  if (typeof rule === 'function') return { ...noRules, text: rule as TextRule };
  const tree = rule as Readonly<Record<string, unknown>>;
  if (typeof tree['sortKey'] === 'function') {
    const { sortKey, each } = rule as UnorderedRule<never>;
    return { ...bindRules(each), sortKey };
  }
  return { ...noRules, field: (name) => bindRules(tree[name]) };
}
