/** The text of readiness about the problems of the configuration. */

import { CodedError, errorText, traitsOf } from '#infra/errors/errors.ts';
import type { FailedValue } from '#kvscheduler/api/transaction.ts';

/** Problems that the text names. */
const MAX_NAMED = 10;

/** `text [code]: remedy` for coded errors. */
export function problemText(error: Error): string {
  const text = errorText(error);
  return error instanceof CodedError ? `${text} [${error.code}]: ${error.remedy}` : text;
}

/**
 * Values that failed, without those whose environment was deleted, which is normal, and without those
 * that wait for VPP.
 */
export function* valueProblems(values: Iterable<FailedValue>): Generator<string, void, void> {
  for (const { key, error } of values)
    if (traitsOf(error).unavailable === undefined) yield `${key}: ${problemText(error)}`;
}

/** @returns undefined if there is none */
export function problemsText(problems: Iterable<string>): string | undefined {
  const named: string[] = [];
  let more = 0;
  for (const problem of problems) {
    if (named.length === MAX_NAMED) more++;
    else if (!named.includes(problem)) named.push(problem);
  }
  if (named.length === 0) return undefined;
  return more === 0 ? named.join('; ') : `${named.join('; ')}; and ${more} more`;
}
