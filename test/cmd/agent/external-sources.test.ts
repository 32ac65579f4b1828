import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { ExternalConfigChange, type ExternalConfigSource } from '#plugins/controller/api/events.ts';
import { makeNode, type RunningAgent, startAgent, until } from './harness.ts';

const KEY = 'config/vpp/v2/interfaces/loop1';
const loopback = vppInterfaceModel.canonical({ name: 'loop1', type: 'SOFTWARE_LOOPBACK' });

const source: ExternalConfigSource = {
  label: 'operator',
  snapshot: async () => ({ [KEY]: loopback }),
};

async function stateOf(running: RunningAgent): Promise<string | undefined> {
  const { body } = await running.get(`/scheduler/status?key=${KEY}`);
  return (body as { value?: { state?: string } }).value?.state;
}

describe('a source of external configuration', () => {
  it('is read with the startup resync, and its changes are applied', async () => {
    await using running = await startAgent(makeNode(), { externalSources: [source] });
    assert.equal(await stateOf(running), 'CONFIGURED');
    const { controller } = running.agent;
    controller.push(ExternalConfigChange.event({ source: 'operator', values: { [KEY]: null } }));
    await until(() => controller.isIdle);
    assert.equal(await stateOf(running), 'NONEXISTENT');
    assert.equal((await running.get('/liveness')).status, 200);
  });
});
