/** Labels of pods and namespaces. */

export interface Label {
  readonly key: string;
  readonly value: string;
}

/** As in the records: they are few, so that a search costs less than a map. */
export type Labels = readonly Label[];

export function labelValue(labels: Labels, key: string): string | undefined {
  for (const label of labels) if (label.key === key) return label.value;
  return undefined;
}

export function isSameLabels(a: Labels, b: Labels): boolean {
  return (
    a.length === b.length &&
    a.every(({ key, value }, at) => key === b[at]?.key && value === b[at].value)
  );
}

/** Index term of labels with the key and value. */
export function valueTerm({ key, value }: Label): string {
  return `${key}=${value}`;
}

/** Index terms of labels: those of a selector that matches the labels are among them. */
export function labelTerms(labels: Labels): string[] {
  return labels.flatMap((label) => [valueTerm(label), label.key]);
}
