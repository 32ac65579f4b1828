type Texts = Readonly<Record<string, string>>;

export function labelList(labels: Texts | undefined): { key: string; value: string }[] {
  return Object.entries(labels ?? {}).map(([key, value]) => ({ key, value }));
}

/** Annotations are mostly other people's; only those meant for us are passed on. */
export function contivAnnotations(annotations: Texts | undefined): Texts {
  const own = Object.entries(annotations ?? {}).filter(([key]) => key.startsWith('contivpp.io'));
  return Object.fromEntries(own);
}

/** Whether `labels` has all that `selector` asks for. */
export function hasLabels(labels: Texts | undefined, selector: Texts): boolean {
  return Object.entries(selector).every(([key, value]) => labels?.[key] === value);
}
