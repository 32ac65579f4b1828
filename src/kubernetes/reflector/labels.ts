import { bandwidthAnnotations } from '../models/bandwidth-annotations.ts';

type Texts = Readonly<Record<string, string>>;

export function labelList(labels: Texts | undefined): { key: string; value: string }[] {
  return Object.entries(labels ?? {}).map(([key, value]) => ({ key, value }));
}

const ofBandwidth: readonly string[] = Object.values(bandwidthAnnotations);

/** The annotations of a pod for Contiv, and those for its bandwidth. */
export function podAnnotations(annotations: Texts | undefined): Texts {
  const asked = Object.entries(annotations ?? {}).filter(([key]) => ofBandwidth.includes(key));
  return { ...contivAnnotations(annotations), ...Object.fromEntries(asked) };
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
