/** A field that cannot be read. Carries its path up to whoever knows the name of the value. */
export class FieldError extends Error {
  readonly reason: string;
  /** `interfaces[2].name` */
  readonly path: string;

  constructor(reason: string, path = '') {
    super(reason);
    this.reason = reason;
    this.path = path;
  }

  /** The same problem seen from one level above. */
  withPath(step: string): FieldError {
    const inner = this.path === '' || this.path.startsWith('[') ? this.path : `.${this.path}`;
    return new FieldError(this.reason, `${step}${inner}`);
  }
}

/** Names the field in what a nested reader throws. */
export function withPath(step: string, thrown: unknown): unknown {
  return thrown instanceof FieldError ? thrown.withPath(step) : thrown;
}

/** What was given, short enough for an error message. */
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
