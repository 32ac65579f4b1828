/** Links of pods: VPP makes them in their namespaces, or in its own, from where the agent moves them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '#infra/clock/system.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { RealNode } from '../support/node.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { pingUnfragmented } from '../support/traffic.ts';

const NONE = 0xffff_ffff;
const MTU = 1450;
const linux = kernelHost({ clock: systemClock });
const run = promisify(execFile);

/** VPP in a mount namespace of its own, in which no named network namespace is mounted. */
const withoutNames = [
  'unshare',
  '--mount',
  '--propagation=slave',
  'sh',
  '-c',
  'mount -t tmpfs none /run/netns && exec "$@"',
  'sh',
];

/** Namespaces in which VPP has made the TAPs of pods. */
async function namespacesOfTaps({ vpp }: RealNode): Promise<readonly string[]> {
  const taps = await vpp.withClient((client) =>
    client.dump('sw_interface_tap_v2_dump', { sw_if_index: NONE }),
  );
  return taps.map(({ host_namespace }) => host_namespace).sort();
}

async function indexOf(sandbox: Sandbox): Promise<number | undefined> {
  const { links } = await linux.dump(sandbox.path);
  return links.find(({ name }) => name === 'eth0')?.index;
}

/** The agent is killed and started: it changes nothing, and the links stay the same. */
async function assertAdopted(node: RealNode, sandboxes: readonly Sandbox[]): Promise<void> {
  const before = [await node.configuration(), await Promise.all(sandboxes.map(indexOf))];
  await node.agent.end('SIGKILL');
  await node.agent.start();
  const { body } = await node.agent.get('/scheduler/txn-history');
  const records = body as readonly { Executed?: readonly { Key: string; NOOP?: boolean }[] }[];
  const executed = records.flatMap(({ Executed = [] }) => Executed);
  assert.deepEqual(
    executed.filter(({ NOOP }) => NOOP !== true).map(({ Key }) => Key),
    [],
  );
  assert.deepEqual(await node.agent.drift(), []);
  const after = [await node.configuration(), await Promise.all(sandboxes.map(indexOf))];
  assert.deepEqual(after, before);
}

describe('links of pods on a real VPP', { skip: withoutNodes(), timeout: 240_000 }, () => {
  it('are made in place where VPP sees the namespace', async () => {
    await using node = await RealNode.create({ contiv: { mtuSize: MTU, enableGSO: true } });
    await node.agent.start();
    const empty = await node.configuration();
    const [web, db] = [await node.pod('web'), await node.pod('db')];
    assert.deepEqual(await namespacesOfTaps(node), ['', web.path, db.path].sort());
    await pingUnfragmented(web, db.address, MTU);
    await assertAdopted(node, [web, db]);
    await node.vpp.kill();
    await node.vpp.start();
    await node.agent.end('SIGTERM');
    await node.agent.start();
    assert.deepEqual(await namespacesOfTaps(node), ['', web.path, db.path].sort());
    await pingUnfragmented(web, db.address, MTU);
    for (const sandbox of [web, db]) await node.agent.delete(sandbox);
    for (const sandbox of [web, db]) assert.equal(await indexOf(sandbox), undefined);
    assert.deepEqual(await node.configuration(), empty);
  });

  it('are moved where it does not, and stay when it sees them later', async () => {
    await using node = await RealNode.create({
      contiv: { mtuSize: MTU },
      vppWrapper: withoutNames,
    });
    await node.agent.start();
    const empty = await node.configuration();
    const [web, db] = [await node.pod('web'), await node.pod('db')];
    assert.deepEqual(await namespacesOfTaps(node), ['', '', '']);
    await pingUnfragmented(web, db.address, MTU);
    await assertAdopted(node, [web, db]);
    const { vpe_pid } = await node.vpp.withClient((client) => client.request('control_ping', {}));
    await run('nsenter', [`--target=${vpe_pid}`, '--mount', 'umount', '/run/netns']);
    await assertAdopted(node, [web, db]);
    const late = await node.pod('late');
    assert.deepEqual(await namespacesOfTaps(node), ['', '', '', late.path]);
    await pingUnfragmented(late, web.address, MTU);
    for (const sandbox of [web, db, late]) await node.agent.delete(sandbox);
    assert.deepEqual(await node.configuration(), empty);
  });
});
