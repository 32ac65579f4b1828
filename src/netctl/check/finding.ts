/** One line of `netctl check`. */
export interface Finding {
  /** Such as `huge pages`. */
  readonly subject: string;
  /** `error`: Contiv does not work; `warning`: a part of it, or perhaps; `skipped`: not examined. */
  readonly result: 'ok' | 'warning' | 'error' | 'skipped';
  /** The fact. */
  readonly text: string;
  /** The action that helps; empty: none. */
  readonly remedy: string;
}

export function ok(subject: string, text: string): Finding {
  return { subject, result: 'ok', text, remedy: '' };
}

export function warning(subject: string, text: string, remedy: string): Finding {
  return { subject, result: 'warning', text, remedy };
}

export function error(subject: string, text: string, remedy: string): Finding {
  return { subject, result: 'error', text, remedy };
}

export function skipped(subject: string, text: string, remedy: string): Finding {
  return { subject, result: 'skipped', text, remedy };
}
