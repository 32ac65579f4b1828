/** `netctl status` with nodes in every state. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { type FakeAgent, fakeAgent } from '../support/fake-agent.ts';
import { NetctlProgram } from '../support/program.ts';

/** Port 1: nothing listens. */
const STOPPED = '127.0.0.1:1';
/** The clocks of the nodes are right. */
const NOW = Math.floor(systemClock.wallTime() / 1000);

interface Problem {
  readonly component: string;
  readonly severity: string;
  readonly code?: string;
  readonly remedy: string;
  readonly nodes: readonly { readonly name: string; readonly since?: string }[];
}

interface StatusDocument {
  readonly nodes: readonly {
    readonly name: string;
    readonly state: string;
    readonly vpp: unknown;
  }[];
  readonly problems: readonly Problem[];
  readonly notAsked: readonly string[];
  readonly failures: readonly { readonly node: string; readonly reason: string }[];
}

const FAILED = 'eth7: does not exist [CV_CONF_NO_SUCH_INTERFACE]: Compare the name.';

describe('netctl status', () => {
  const program = new NetctlProgram();
  const agents: FakeAgent[] = [];
  let good: string;
  let bad: string;
  before(async () => {
    const node = (nodeId: number) => ({ nodeId, nodeName: `node${nodeId}`, nodeIP: '' });
    const times = { last_change: NOW - 240, last_update: NOW };
    const names = ['node1', 'node2', 'node3'].map((name) => ({ name }));
    const cluster = { thisNode: 'node1', total: 3, nodes: names };
    const one = await fakeAgent({
      readiness: { state: 1, build_version: 'v1', ...times, PluginStatus: { vpp: { state: 1 } } },
      liveness: { state: 1, build_version: 'v1', PluginStatus: {} },
      'contiv/v1/ipam': node(1),
      'contiv/v1/nodes': cluster,
      'vpp/version': { program: 'vpe', version: '26.06-release', buildDate: '' },
    });
    const document = {
      state: 2,
      build_version: 'v1',
      ...times,
      PluginStatus: { configuration: { state: 2, error: FAILED, last_change: NOW - 7_300 } },
    };
    const two = await fakeAgent({
      readiness: (reply) => void reply.writeHead(500).end(JSON.stringify(document)),
      'contiv/v1/ipam': node(2),
    });
    agents.push(one, two);
    good = one.address;
    bad = two.address;
  });
  after(async () => {
    program[Symbol.dispose]();
    for (const agent of agents) await agent[Symbol.asyncDispose]();
  });

  const status = async (...servers: readonly string[]) => {
    const given = servers.flatMap((server) => ['--server', server]);
    const { code, stdout } = await program.run('status', '-o', 'json', ...given);
    return { code, document: JSON.parse(stdout) as StatusDocument };
  };

  it('has exit code 0 when nothing is wrong, and names nodes that were not asked', async () => {
    const { code, document } = await status(good);
    assert.equal(code, 0);
    const [node] = document.nodes;
    assert.equal(node!.state, 'ready');
    assert.deepEqual(node!.vpp, { version: '26.06-release' });
    assert.deepEqual(document.problems, []);
    assert.deepEqual(document.notAsked, ['node2', 'node3']);
  });

  it('has exit code 3 with a problem: its node, time, code and remedy', async () => {
    const { code, document } = await status(good, bad);
    assert.equal(code, 3);
    assert.deepEqual(
      document.nodes.map(({ name, state, vpp }) => [name, state, vpp]),
      [
        ['node1', 'ready', { version: '26.06-release' }],
        ['node2', 'not ready', null],
      ],
    );
    const [problem] = document.problems;
    assert.equal(problem!.code, 'CV_CONF_NO_SUCH_INTERFACE');
    assert.equal(problem!.remedy, 'Compare the name.');
    const since = new Date((NOW - 7_300) * 1000).toISOString();
    assert.deepEqual(problem!.nodes, [{ name: 'node2', since }]);
  });

  it('names nodes that do not answer', async () => {
    const partial = await status(good, STOPPED);
    assert.equal(partial.code, 2);
    assert.deepEqual(
      partial.document.failures.map(({ node, reason }) => [node, reason]),
      [[STOPPED, 'refused']],
    );
    assert.equal((await status(STOPPED)).code, 1);
  });

  it('has the releases of all nodes, and its own without a node, in version', async () => {
    const own = await program.run('--version');
    assert.equal(own.code, 0);
    assert.match(own.stdout, /^netctl v\d+\.\d+\.\d+$/m);
    const all = await program.run('version', '-o', 'json', '--server', good, '--server', STOPPED);
    assert.equal(all.code, 2);
    const { client, nodes } = JSON.parse(all.stdout) as {
      client: { version: string };
      nodes: { name: string; version: string; vpp: string }[];
    };
    assert.equal(`netctl ${client.version}`, own.stdout.trim());
    assert.deepEqual(
      nodes.map(({ name, version, vpp }) => [name, version, vpp]),
      [['node1', 'v1', '26.06-release']],
    );
  });

  it('tells all of it to people', async () => {
    const servers = [good, bad, STOPPED].flatMap((server) => ['--server', server]);
    const { code, stdout, stderr } = await program.run('status', ...servers);
    assert.equal(code, 2);
    assert.match(stdout, /^3 nodes: 1 without an answer, 1 not ready, 1 ready. 1 problem\n\n/);
    assert.match(stdout, /^node1 +1 {2}ready +4min +0 {2}v1 +26.06-release$/m);
    assert.match(stdout, /^node2 +2 {2}not ready +4min +1 {2}v1 +unknown$/m);
    assert.match(stdout, /^127.0.0.1:1 +connection refused$/m);
    assert.match(
      stdout,
      /^Without an answer, or not asked, although nodes of the cluster: node3.$/m,
    );
    assert.match(
      stdout,
      /^ERROR configuration on node2, since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(2h\)\n {2}eth7: does not exist \[CV_CONF_NO_SUCH_INTERFACE\]\n {2}Do: Compare the name.$/m,
    );
    assert.match(stderr, /127.0.0.1:1: connection refused/);
  });
});
