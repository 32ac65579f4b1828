/** `netctl check --nodes` with agents that have probed others. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PathProbe } from '#documents/node-probe.ts';
import { type FakeAgent, fakeAgent } from '../support/fake-agent.ts';
import { NetctlProgram } from '../support/program.ts';

const nodes = ['node1', 'node2', 'node3'].map((name, at) => ({ id: at + 1, name }));

function path(received: number, changes: Partial<PathProbe> = {}): PathProbe {
  const rttMs = received > 0 ? { min: 0.5, average: 0.75, max: 12 } : null;
  return {
    path: 'underlay',
    address: '192.168.16.2',
    sent: 5,
    received,
    rttMs,
    problem: null,
    ...changes,
  };
}

/** An agent with the replies of its probes by the name of the other node. */
function agentOf(thisNode: string, probes: Readonly<Record<string, object>>): Promise<FakeAgent> {
  const replies = Object.entries(probes).map(
    ([to, reply]) => [`contiv/v1/nodes/${to}/probe`, reply] as const,
  );
  return fakeAgent({
    'contiv/v1/ipam': { nodeId: 1, nodeName: thisNode },
    'contiv/v1/nodes': { thisNode, total: nodes.length, nodes },
    ...Object.fromEntries(replies),
  });
}

function reached(node: string, ...paths: readonly PathProbe[]): object {
  return { node, whyUnreachable: null, paths };
}

describe('netctl check --nodes', () => {
  const program = new NetctlProgram();
  const agents: FakeAgent[] = [];
  before(async () => {
    agents.push(
      await agentOf('node1', {
        node2: reached('node2', path(5)),
        node3: reached('node3', path(5)),
      }),
      await agentOf('node2', {
        node3: reached('node3', path(5), path(1, { path: 'overlay', address: '10.1.3.1' })),
        node1: { node: 'node1', whyUnreachable: 'its Node object has no address', paths: [] },
      }),
      await agentOf('node3', {
        node1: reached('node1', path(0, { sent: 0, problem: 'VPP is simulated' })),
      }),
    );
  });
  after(async () => {
    program[Symbol.dispose]();
    for (const agent of agents) await agent[Symbol.asyncDispose]();
  });

  const check = (...args: readonly string[]) => {
    const servers = agents.flatMap(({ address }) => ['--server', address]);
    return program.run('check', ...args, ...servers);
  };

  it('shows loss and times, with exit code 0 if no packet was lost', async () => {
    const { code, stdout } = await check('node1', '-o', 'wide');
    assert.equal(code, 0, stdout);
    assert.match(
      stdout,
      /^node1 {2}node2 {2}underlay {2}192.168.16.2 +0 % {2}0.75 ms {2}0.50 ms {2}12 ms$/m,
    );
    assert.match(stdout, /\n\nNo packet was lost.\n$/);
  });

  it('shows what was lost, and what could not be probed, with exit code 3', async () => {
    const { code, stdout } = await check('--nodes');
    assert.equal(code, 3);
    assert.match(stdout, /^node2 {2}node3 {2}overlay {3}10.1.3.1 +80 % +0.75 ms$/m);
    assert.match(stdout, /^node2 {2}node1 {2}its Node object has no address$/m);
    assert.match(stdout, /^node3 {2}node1 {2}underlay {2}192.168.16.2 +VPP is simulated$/m);
    // The fake agent knows no route to node2.
    assert.match(stdout, /^node3 {2}node2 {2}.*not known$/m);
    assert.match(stdout, /UDP port 4789/);
    assert.match(stdout, /^2 ways could not be probed.$/m);
  });

  it('has the same in its document', async () => {
    const { stdout } = await check('node2', '-o', 'json');
    const { probes } = JSON.parse(stdout) as { probes: Record<string, unknown>[] };
    assert.deepEqual(probes[1], {
      from: 'node2',
      to: 'node1',
      whyUnreachable: 'its Node object has no address',
      paths: [],
      problem: null,
    });
  });
});
