/** An agent that a busy machine starves; `npm run soak -- little-cpu` continues for twenty minutes. */
import { describe, it } from 'node:test';
import { CpuShare } from '#test/support/cpu-share.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { RealNode } from '../support/node.ts';

/** As the startup probe of the chart allows. */
const READY_LIMIT_MS = 600_000;
const PROBE_PAUSE_MS = 10_000;

describe('agent with little CPU time', { skip: withoutNodes(), timeout: READY_LIMIT_MS }, () => {
  it('becomes ready with 5 % of one CPU', async (t) => {
    const share = new CpuShare(0.05);
    t.after(() => share.remove());
    await using node = await RealNode.create({ agentWrapper: share.wrapper });
    node.agent.launch();
    await node.agent.whenServing(READY_LIMIT_MS, PROBE_PAUSE_MS);
    t.diagnostic(`after ${node.agent.cpuSeconds} s of CPU`);
  });
});
