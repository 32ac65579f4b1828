/** An invalid field. Each level of nesting prepends its step to the path. */
export class FieldError extends Error {
  readonly reason: string;
  /** `interfaces[2].name` */
  readonly path: string;

  constructor(reason: string, path = '') {
    super(reason);
    this.reason = reason;
    this.path = path;
  }

  /** The same error with a step prepended to its path. */
  withPath(step: string): FieldError {
    const inner = this.path === '' || this.path.startsWith('[') ? this.path : `.${this.path}`;
    return new FieldError(this.reason, `${step}${inner}`);
  }
}

/** Prepends a step to the path of a FieldError; other errors are returned unchanged. */
export function withPath(step: string, thrown: unknown): unknown {
  return thrown instanceof FieldError ? thrown.withPath(step) : thrown;
}

/** A value as text, short enough for an error message. */
export function describe(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    text = undefined;
  }
  text ??= String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
