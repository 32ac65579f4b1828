/** Assertions about answers. */
import assert from 'node:assert/strict';
import type { Answer } from '../service-cluster.ts';

type Answered = Extract<Answer, { result: 'answered' }>;

/** @throws when one was not answered */
export function answered(answers: readonly Answer[], label = ''): readonly Answered[] {
  const all = answers.every(({ result }) => result === 'answered');
  assert.ok(all, `${label}: not all of ${answers.length} were answered: ${summary(answers)}`);
  return answers as readonly Answered[];
}

/** Equal answers once, with their number. */
function summary(answers: readonly Answer[]): string {
  const counts = new Map<string, number>();
  for (const answer of answers) {
    const text =
      answer.result === 'answered' ? `${answer.backend} saw ${answer.client}` : answer.result;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([text, count]) => `${count} × ${text}`).join(', ');
}

/** How many were answered by each backend. */
export function countByBackend(answers: readonly Answer[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { backend } of answered(answers)) counts.set(backend, (counts.get(backend) ?? 0) + 1);
  return counts;
}

/** All were answered, and every one of these backends did, and no other. */
export function assertBackends(
  answers: readonly Answer[],
  expected: readonly string[],
  label = '',
): void {
  const found = new Set(answered(answers, label).map(({ backend }) => backend));
  assert.deepEqual([...found].sort(), [...expected].sort(), `${label}: ${summary(answers)}`);
}

/** Backends saw this client. */
export function assertClient(answers: readonly Answer[], client: string, label = ''): void {
  const seen = new Set(answered(answers, label).map((one) => one.client));
  assert.deepEqual([...seen], [client], `${label}: ${summary(answers)}`);
}

/** None was answered. */
export function assertNone(answers: readonly Answer[], label = ''): void {
  const none = answers.every(({ result }) => result !== 'answered');
  assert.ok(none, `${label}: some were answered: ${summary(answers)}`);
}
