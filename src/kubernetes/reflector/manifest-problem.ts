/** What could not be taken from manifests: named, skipped, and no reason to stop. */

export interface SourceLocation {
  readonly file: string;
  /** From 1; documents without content do not count. */
  readonly document: number;
  /** From 1; where the object begins. */
  readonly line: number;
}

export interface ManifestProblem extends SourceLocation {
  /** Where the text itself is wrong. */
  readonly column?: number;
  /** Empty where it is not known. */
  readonly kind: string;
  /** `<namespace>/<name>`, `<name>`, or empty. */
  readonly name: string;
  readonly reason: string;
}

/** `shop.yaml:12 (document 3): Service shop/web: spec.ports …` */
export function problemText(problem: ManifestProblem): string {
  const { file, document, line, column, kind, name, reason } = problem;
  const place = column === undefined ? `${file}:${line}` : `${file}:${line}:${column}`;
  const object = [kind, name].filter((part) => part !== '').join(' ');
  const what = object === '' ? reason : `${object}: ${reason}`;
  return `${place} (document ${document}): ${what}`;
}
