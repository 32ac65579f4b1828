/**
 * What a model says about its fields beyond their types: the one spelling of a text, and lists
 * whose order means nothing. Declared as a tree of the same shape as the message.
 */

/** Gives the canonical spelling; throws FieldProblem. Never called for an empty text. */
export type TextRule = (text: string) => string;

/** A list whose order means nothing: kept sorted by this key, then by its elements' JSON. */
export interface UnorderedRule<E> {
  readonly sortKey: (element: E) => string | number;
  readonly each: Rule<E> | undefined;
}

export type Rule<V> = V extends string
  ? TextRule
  : V extends readonly (infer E)[]
    ? Rule<E> | UnorderedRule<E>
    : V extends object
      ? Rules<V>
      : never;

export type Rules<T> = { readonly [K in keyof T]?: Rule<NonNullable<T[K]>> };

/** Rules without their types, as the compiler walks them. */
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

/** A list of texts whose order means nothing. */
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
