/** External values that make an invalid value of the agent's own: that stays, now and after each restart. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { replay } from '#cmd/agent/replay.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { addPod, makeNode, type Node, type RunningAgent, startAgent, until } from './harness.ts';

const KEY = vppInterfaceKey.build({ name: 'tap-vpp2' });
const storedKey = `/vnf-agent/node1/${KEY}`;

const invalid: Readonly<Record<string, object>> = {
  'a limit exceeded': { name: 'tap-vpp2', mtu: 99_999 },
  'another type': { name: 'tap-vpp2', type: 'SOFTWARE_LOOPBACK' },
  'a type that VPP does not have': { name: 'tap-vpp2', type: 'GTPU_TUNNEL' },
  'the link of another type': { name: 'tap-vpp2', memif: { socket_filename: '/run/other.sock' } },
};

interface Found {
  readonly states: Readonly<Record<string, number>>;
  readonly desired: unknown;
}

/** Numbers of values by state, and the desired value of the interface. */
async function found({ agent, get }: RunningAgent): Promise<Found> {
  await until(() => agent.controller.isIdle);
  const { body } = await get('/scheduler/dump?view=NB&descriptor=vpp-interface');
  const values = body as { Key?: string; Value?: { ProtoMsgData?: string } }[];
  const status = (await get('/scheduler/status')).body as { value: { state: string } }[];
  const states: Record<string, number> = {};
  // links of the host are found at their own time
  for (const { value } of status)
    if (value.state !== 'OBTAINED') states[value.state] = (states[value.state] ?? 0) + 1;
  return { states, desired: values.find(({ Key }) => Key === KEY)?.Value };
}

async function put(node: Node, running: RunningAgent, value: object): Promise<void> {
  const before = running.agent.controller.history.records.length;
  await node.cluster.put(storedKey, JSON.stringify(value));
  await until(() => running.agent.controller.history.records.length > before);
}

describe('an external value that makes an invalid one of that of the agent', () => {
  for (const [what, value] of Object.entries(invalid))
    it(`is ignored: ${what} [R6.12]`, async () => {
      const node = makeNode();
      const folder = join(temporaryFolder('merge'), 'runs');
      const controller = { 'record-run': folder };
      let expected: Found;
      {
        await using running = await startAgent(node, { controller });
        await addPod(running, { name: 'web', containerId: 'c1', netns: '/proc/1/ns/net' });
        expected = await found(running);
        assert.ok(expected.desired);
        await put(node, running, value);
        assert.deepEqual(await found(running), expected);
        const warnings = running.logged.filter(({ key, level }) => key === KEY && level === 'warn');
        assert.equal(warnings.length, 1);
      }
      // beside a VPP that survived
      {
        await using running = await startAgent(node, { controller });
        assert.deepEqual(await found(running), expected);
        const { status } = await running.get('/readiness');
        assert.equal(status, 200);
      }
      // with a new VPP
      {
        const { cluster, local, mirror } = node;
        await using running = await startAgent({ ...makeNode(), cluster, local, mirror });
        assert.deepEqual((await found(running)).desired, expected.desired);
      }
      const printed: string[] = [];
      assert.ok(await replay(folder, (text) => void printed.push(text)), printed.join(''));
    });
});
