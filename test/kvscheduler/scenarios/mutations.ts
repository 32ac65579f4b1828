/** A scenario with one wrong expectation at a time: the runner has to find each of them. */
import assert from 'node:assert/strict';
import type { Expectation, Scenario, Step } from './format.ts';

export interface Mutation {
  readonly what: string;
  /** Ends with the step that expects something wrong. */
  readonly scenario: Scenario;
  /** Of that step. */
  readonly title: string;
}

export function* mutations(scenario: Scenario): Generator<Mutation> {
  for (const [index, step] of scenario.steps.entries()) {
    const { title, fails = [] } = step;
    const withLast = (last: Step): Scenario => ({
      ...scenario,
      steps: [...scenario.steps.slice(0, index), last],
    });
    for (const [what, expect] of wrongExpectations(step.expect))
      yield { what, title, scenario: withLast({ ...step, expect }) };
    const more = [...fails, { call: 'CREATE x/9', error: 'never' }];
    yield { what: 'planned failure', title, scenario: withLast({ ...step, fails: more }) };
  }
}

function* wrongExpectations(right: Expectation): Generator<[string, Expectation]> {
  const { record, failures = [], retrieves = [], flags, content, status } = right;
  for (const [what, lines] of Object.entries({ failures, retrieves, flags }))
    for (const wrong of wrongLines(lines)) yield [what, { ...right, [what]: wrong }];
  const { values, executed, planned = executed, retry } = record;
  for (const [what, lines] of Object.entries({ values, planned, executed }))
    for (const wrong of wrongLines(lines))
      yield [what, { ...right, record: { ...record, planned, [what]: wrong } }];
  for (const [what, table] of Object.entries({ content, status }))
    for (const wrong of wrongTables(table)) yield [what, { ...right, [what]: wrong }];
  if (!retry) return;
  const { of, attempt } = retry;
  for (const wrong of [undefined, { of: of + 1, attempt }, { of, attempt: attempt + 1 }])
    yield [
      'retry',
      { ...right, record: { values, planned, executed, ...(wrong && { retry: wrong }) } },
    ];
}

function* wrongLines(lines: readonly string[]): Generator<readonly string[]> {
  for (const [index, line] of lines.entries()) yield lines.with(index, `${line}?`);
  yield [...lines, 'something more'];
  if (lines.length > 0) yield lines.slice(0, -1);
  if (lines[0] !== lines.at(-1)) yield lines.toReversed();
}

type Table = Readonly<Record<string, string>>;

function* wrongTables(table: Table): Generator<Table> {
  for (const [key, line] of Object.entries(table)) {
    const { [key]: dropped, ...rest } = table;
    assert.ok(dropped);
    yield rest;
    yield { ...table, [key]: `${line}?` };
  }
  yield { ...table, 'x/9': 'something more' };
}
