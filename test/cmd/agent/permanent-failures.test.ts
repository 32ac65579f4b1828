/** Settings and records that can never succeed: reported, and everything else continues. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addPod, type RunningAgent, until } from './harness.ts';
import { Scenario, section } from './scenario.ts';
import { web } from './test-pods.ts';

const quick = { delayAfterErrorHealing: '20ms', enableRetry: false } as const;

async function readiness({ running }: Scenario): Promise<{ status: number; reason: string }> {
  const { status, body } = await running.get('/readiness');
  const { PluginStatus } = body as { PluginStatus: Record<string, { error?: string }> };
  return { status, reason: PluginStatus['configuration']?.error ?? '' };
}

async function assertAlive(running: RunningAgent): Promise<void> {
  assert.equal((await running.get('/liveness')).status, 200);
}

describe('a NIC that VPP lacks', { timeout: 60_000 }, () => {
  it('in the file fails readiness with key and reason; pods are attached', async () => {
    await using scenario = await Scenario.start({
      controller: quick,
      contiv: { nodeConfig: [section({ name: 'GigabitEthernet9/0/0' })] },
    });
    const { running } = scenario;
    const healings = () =>
      running.agent.controller.history.records.filter(({ id }) => id === 'healing-resync').length;
    await until(() => healings() >= 3);
    const { status, reason } = await readiness(scenario);
    assert.equal(status, 500);
    assert.match(reason, /interfaces\/GigabitEthernet9\/0\/0: .*VPP has no NIC of this name/);
    await assertAlive(running);
    assert.equal((await addPod(running, web)).error, '');
  });
});
