/** Compares the table of the original's metrics in docs/metrics.md with the original and the agent. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { makeNode, type RunningAgent, startAgent } from '#test/cmd/agent/harness.ts';
import { originalMetrics } from './original-metrics.ts';

type State = 'same' | 'better' | 'gone';

/** State and note of each metric in the table. */
function documented(): Map<string, { state: State; note: string }> {
  const rows = readFileSync('docs/metrics.md', 'utf8').matchAll(
    /^\| `([\w*]+)` \| (same|better|gone) \| (.*) \|$/gm,
  );
  return new Map(
    [...rows].map(([, name, state, note]) => [name!, { state: state as State, note: note! }]),
  );
}

describe("the original's metrics", () => {
  let running: RunningAgent;
  before(async () => {
    running = await startAgent(makeNode());
  });
  after(() => running?.stop());

  it('are all in docs/metrics.md, each with its state, and why it differs', () => {
    const table = documented();
    const names = [...originalMetrics['/metrics'], ...originalMetrics['/stats']];
    assert.deepEqual([...table.keys()].sort(), names.sort());
    for (const [name, { state, note }] of table)
      assert.ok(state === 'same' || note.trim() !== '', name);
  });

  for (const path of ['/metrics', '/stats'] as const)
    it(`are served on ${path}, or else the table says why not`, async () => {
      const response = await fetch(`http://127.0.0.1:${running.agent.port}${path}`);
      const text = await response.text();
      const served = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
      const table = documented();
      for (const name of originalMetrics[path])
        assert.equal(served.has(name), table.get(name)?.state !== 'gone', name);
    });
});
