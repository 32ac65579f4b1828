/** Problems in manifests. The affected part is reported and ignored; reading continues. */

export interface SourceLocation {
  readonly file: string;
  /** Starts at 1; empty documents are not counted. */
  readonly document: number;
  /** First line of the object, starting at 1. */
  readonly line: number;
}

export interface ManifestProblem extends SourceLocation {
  /** Column of a syntax error. */
  readonly column?: number;
  /** Empty if unknown. */
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
