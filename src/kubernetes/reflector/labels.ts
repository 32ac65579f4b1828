type Texts = Readonly<Record<string, string>>;

export function labelList(labels: Texts | undefined): { key: string; value: string }[] {
  return Object.entries(labels ?? {}).map(([key, value]) => ({ key, value }));
}

/** Only the annotations for Contiv; objects have many others. */
export function contivAnnotations(annotations: Texts | undefined): Texts {
  const own = Object.entries(annotations ?? {}).filter(([key]) => key.startsWith('contivpp.io'));
  return Object.fromEntries(own);
}

/** Whether `labels` contains all labels of `selector`. */
export function hasLabels(labels: Texts | undefined, selector: Texts): boolean {
  return Object.entries(selector).every(([key, value]) => labels?.[key] === value);
}
