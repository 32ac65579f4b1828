/** Selectors of pods and namespaces by their labels. */
import type { PolicyLabelExpression, PolicyLabelSelector } from '#kubernetes/models/policy.ts';
import { type Labels, labelValue, valueTerm } from './labels.ts';

interface Requirement {
  readonly key: string;
  /** Equal for equal requirements. */
  readonly text: string;
  /** Labels that meet the requirement have one of these index terms; empty: they need no label. */
  readonly terms: readonly string[];
  readonly isByValue: boolean;
  /** @param value undefined: there is no such label */
  isMet(value: string | undefined): boolean;
}

export class LabelSelector {
  static readonly everything = new LabelSelector([]);

  /** Equal for equal selectors. */
  readonly text: string;
  /** Labels that match have at least one of these terms; empty: all labels have to be looked at. */
  readonly terms: readonly string[];
  /** The terms are those of values, not of a key. */
  readonly isByValue: boolean;
  readonly #requirements: readonly Requirement[];

  private constructor(requirements: readonly Requirement[]) {
    this.#requirements = requirements;
    this.text = requirements
      .map(({ text }) => text)
      .sort()
      .join(', ');
    const indexed = requirements.filter(({ terms }) => terms.length > 0);
    // a value is rarer than a key
    const byValue = indexed.find(({ isByValue }) => isByValue);
    this.isByValue = byValue !== undefined;
    this.terms = (byValue ?? indexed[0])?.terms ?? [];
  }

  /**
   * @param report is called with the reason if the selector is invalid
   * @returns undefined for an invalid one
   */
  static of(
    record: PolicyLabelSelector,
    report: (problem: string) => void,
  ): LabelSelector | undefined {
    const requirements: Requirement[] = record.match_label.map((label) => ({
      key: label.key,
      text: JSON.stringify(label.key) + JSON.stringify([label.value]),
      terms: [valueTerm(label)],
      isByValue: true,
      isMet: (value) => value === label.value,
    }));
    for (const expression of record.match_expression) {
      const requirement = requirementOf(expression);
      if (typeof requirement === 'string') {
        report(requirement);
        return undefined;
      }
      requirements.push(requirement);
    }
    return requirements.length === 0 ? LabelSelector.everything : new LabelSelector(requirements);
  }

  /** Whether it looks at no label with another key. */
  needsOnly(key: string): boolean {
    return this.#requirements.every((requirement) => requirement.key === key);
  }

  matches(labels: Labels): boolean {
    for (const requirement of this.#requirements)
      if (!requirement.isMet(labelValue(labels, requirement.key))) return false;
    return true;
  }
}

/** @returns why the expression is invalid */
function requirementOf({
  key,
  operator,
  value: values,
}: PolicyLabelExpression): Requirement | string {
  if (key === '') return 'an expression has no key';
  const needsValues = operator === 'IN' || operator === 'NOT_IN';
  if (needsValues && values.length === 0)
    return `the expression for "${key}" has the operator ${operator} without values`;
  if (!needsValues && values.length > 0)
    return `the expression for "${key}" has the operator ${operator} with values`;
  const wanted = new Set(values);
  const list = JSON.stringify([...wanted].sort());
  switch (operator) {
    case 'IN':
      return {
        key,
        text: JSON.stringify(key) + list,
        terms: [...wanted].map((value) => valueTerm({ key, value })),
        isByValue: true,
        isMet: (value) => value !== undefined && wanted.has(value),
      };
    case 'NOT_IN':
      return {
        key,
        text: `${JSON.stringify(key)} not ${list}`,
        terms: [],
        isByValue: false,
        isMet: (value) => value === undefined || !wanted.has(value),
      };
    case 'EXISTS':
      return {
        key,
        text: `${JSON.stringify(key)} exists`,
        terms: [key],
        isByValue: false,
        isMet: (value) => value !== undefined,
      };
    case 'DOES_NOT_EXIST':
      return {
        key,
        text: `${JSON.stringify(key)} does not exist`,
        terms: [],
        isByValue: false,
        isMet: (value) => value === undefined,
      };
  }
}
