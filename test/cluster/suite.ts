/** A suite of `run`. */
import type { CaseResult } from './results.ts';
import type { ClusterSettings } from './settings.ts';

export interface SuiteRun {
  readonly cases: readonly CaseResult[];
  /** Measured values, a sentence each. */
  readonly measures?: readonly string[];
}

export interface Suite {
  readonly title: string;
  /** Tests that it leaves out, a sentence each. */
  readonly notRun: readonly string[];
  /** Without it what passes proves nothing, and the suite runs only when it is named. */
  readonly needs?: { readonly what: string; isMet(settings: ClusterSettings): boolean };
  run(settings: ClusterSettings): Promise<SuiteRun>;
}
