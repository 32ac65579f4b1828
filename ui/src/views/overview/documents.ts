/** `GET /scheduler/values`, as far as the overview reads it. */

export interface ProblemValues {
  /** Number of values by state. */
  readonly states: Readonly<Record<string, number>>;
  readonly matches: number;
  readonly values: readonly ProblemValue[];
}

export interface ProblemValue {
  readonly key: string;
  readonly state: string;
  readonly error?: string;
}
