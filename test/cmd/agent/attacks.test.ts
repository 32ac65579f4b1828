/**
 * Clients without credentials that try to take the main thread or the memory of the agent. The agent
 * and the attacker are processes of their own. The bounds are generous, because other work may share
 * the machine: `npm run soak -- attacks` has those that must hold on an idle one.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { attacks } from './attack.ts';
import { AttackedAgent, lines, longest, median } from './attacked-agent.ts';

const ATTACK_MS = 1_500;

describe('an agent under attack', () => {
  let agent: AttackedAgent;
  before(async () => {
    agent = await AttackedAgent.start();
  });
  after(() => agent?.stop());

  for (const [title, attack] of Object.entries(attacks))
    it(`serves probes and CNI: ${title}`, async (t) => {
      const observed = await agent.observe(attack, ATTACK_MS);
      for (const line of lines(observed)) t.diagnostic(line);
      const { liveness, cni, memory } = observed;
      assert.ok(median(liveness) < 500, 'the median of /liveness is below 500 ms');
      assert.ok(longest(cni) < 10_000, 'kubelet gets its replies');
      assert.ok(memory.peak < 1.5 * memory.before, `memory ${memory.peak} MiB`);
      await agent.ready();
    });
});
