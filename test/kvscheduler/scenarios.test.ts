/**
 * The scenarios of the tests of the Go agent's scheduler, as data. Differences to the Go agent are
 * listed in `unlike` of the step.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { scenarios } from './scenarios/all.ts';
import { mutations } from './scenarios/mutations.ts';
import { runScenario } from './scenarios/run.ts';

/** Comparisons in the code of the Go agent's tests. */
const GO_AGENT_COMPARISONS = 1472;
const ORDERS = 10;

for (const scenario of scenarios)
  test(`scenario: ${scenario.name}`, async () => {
    const facts = await runScenario(scenario, { window: 1, replies: 'now' });
    for (let seed = 0; seed < ORDERS; seed++) {
      const replies = seededRandom(seed);
      assert.equal(await runScenario(scenario, { window: 100, replies }), facts);
    }
  });

test('the scenarios check at least as many facts as those of the Go agent', async (t) => {
  let facts = 0;
  for (const scenario of scenarios)
    facts += await runScenario(scenario, { window: 1, replies: 'now' });
  const unlike = scenarios.flatMap(({ steps }) => steps).flatMap((step) => step.unlike ?? []);
  t.diagnostic(
    `${scenarios.length} scenarios check ${facts} facts, each with window 1 and ${ORDERS} times ` +
      `with window 100 and shuffled replies; ${unlike.length} known differences to the Go agent`,
  );
  assert.equal(scenarios.length, 13);
  assert.ok(facts >= GO_AGENT_COMPARISONS, `${facts} facts`);
});

test('a scenario with any wrong expectation fails', async (t) => {
  const counts: Record<string, number> = {};
  for (const scenario of scenarios)
    for (const { what, title, scenario: wrong } of mutations(scenario)) {
      counts[what] = (counts[what] ?? 0) + 1;
      await assert.rejects(
        runScenario(wrong, { window: 1, replies: 'now' }),
        ({ name, message }: Error) => name === 'AssertionError' && message.startsWith(`${title}: `),
        `${scenario.name}: ${title}: ${what}: ${JSON.stringify(wrong.steps.at(-1)?.expect)}`,
      );
    }
  t.diagnostic(`wrong expectations that were found: ${JSON.stringify(counts)}`);
});
