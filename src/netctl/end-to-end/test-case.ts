/** One line of `netctl test`: something that has to work, tried once. */
export interface TestCase {
  /** Subject, such as `pod to pod`: cases of the same check are summed up. */
  readonly check: string;
  readonly from: string;
  readonly to: string;
  readonly result: 'ok' | 'error' | 'skipped';
  /** The fact. */
  readonly found: string;
  /** The action that helps; empty: nothing is wrong. */
  readonly remedy: string;
}

export function passed(check: string, from: string, to: string, found: string): TestCase {
  return { check, from, to, result: 'ok', found, remedy: '' };
}

export function failed(
  check: string,
  from: string,
  to: string,
  found: string,
  remedy: string,
): TestCase {
  return { check, from, to, result: 'error', found, remedy };
}

export function skipped(check: string, found: string, remedy: string): TestCase {
  return { check, from: '', to: '', result: 'skipped', found, remedy };
}
