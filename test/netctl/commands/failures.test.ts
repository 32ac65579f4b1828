/** Nodes that answer with something else, or not at all, as users of netctl see them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FakeAgent, fakeAgent } from '../support/fake-agent.ts';
import { NetctlProgram } from '../support/program.ts';

const CONNECTIVITY = 'contiv/v1/policy/connectivity';
const HISTORY = 'controller/event-history';

/** Port 1: nothing listens. */
const STOPPED = '127.0.0.1:1';

const event = { SeqNum: 1, Name: 'Add Pod', ProcessingStart: '2026-01-01T00:00:00Z' };
const connection = { from: 'shop/web', to: 'shop/db', ports: 'TCP 80' };

describe('netctl with nodes that fail', () => {
  const program = new NetctlProgram();
  const agents: FakeAgent[] = [];
  let good: FakeAgent;
  let other: FakeAgent;
  /** Another program. */
  let unrelated: FakeAgent;
  before(async () => {
    good = await fakeAgent({
      [HISTORY]: [event],
      [CONNECTIVITY]: { endpoints: [{ name: 'shop/web' }], connections: [connection] },
      liveness: { state: 2, PluginStatus: { etcd: { state: 2, error: 'no leader' } } },
      'contiv/v1/ipam': { nodeId: 1, nodeName: 'node1' },
      'scheduler/drift': { Differences: [], Unread: [{ Descriptor: 'acl', Error: 'timeout' }] },
    });
    other = await fakeAgent({
      [HISTORY]: '<html>',
      // Its end is missing.
      [CONNECTIVITY]: `{"connections": [${JSON.stringify(connection)},`,
    });
    unrelated = await fakeAgent(new Proxy({}, { get: () => ({ hello: 1 }) }));
    agents.push(good, other, unrelated);
  });
  after(async () => {
    program[Symbol.dispose]();
    for (const agent of agents) await agent[Symbol.asyncDispose]();
  });

  it('warns of a ping of VPP, which disturbs the agent', async () => {
    const { stderr } = await program.run(
      '--server',
      STOPPED,
      'vppcli',
      STOPPED,
      'ping',
      '10.0.0.1',
    );
    assert.match(stderr, /^ping of VPP over the agent .* netctl check NODE probes/m);
  });

  for (const args of [
    ['vppdump', STOPPED],
    ['vppcli', STOPPED, 'show', 'version'],
    ['trace', 'shop/web', 'shop/db'],
    ['services', 'shop/web'],
  ])
    for (const format of args[0] === 'vppdump' ? ['json', 'yaml'] : ['json'])
      it(`lists the failure in the document of ${args[0]} -o ${format}`, async () => {
        const { code, stdout } = await program.run('--server', STOPPED, '-o', format, ...args);
        assert.equal(code, 1);
        const { parse } = await import('yaml');
        const { failures } = (format === 'json' ? JSON.parse(stdout) : parse(stdout)) as {
          failures: object[];
        };
        assert.deepEqual(
          failures.map((one) => Object.keys(one)),
          [['node', 'reason', 'text', 'remedy']],
        );
      });

  for (const command of [
    'nodes',
    'pods',
    'ipam',
    'services',
    'services shop/web',
    'policies',
    'policies shop/web',
    'connectivity',
    'connectivity shop/web shop/db',
    'trace shop/web shop/db',
    'events',
    'plan',
    'plan -f examples/shop/policies-storefront.yaml',
    'vppdump NODE',
    'vppdump NODE vpp-route',
    'vppcli NODE show version',
    'report',
  ])
    it(`takes JSON of another program for no answer to ${command}`, async () => {
      const words = command.split(' ').map((word) => (word === 'NODE' ? unrelated.address : word));
      const { code, stdout, stderr } = await program.run('--server', unrelated.address, ...words);
      assert.equal(code, 1, stdout);
      assert.match(
        stderr,
        /: the reply is not that of an agent\n {2}Something else than the agent/,
      );
    });

  it('shows the events of the others when one does not send JSON', async () => {
    const servers = ['--server', good.address, '--server', other.address];
    const { code, stdout, stderr } = await program.run('events', '-o', 'json', ...servers);
    assert.equal(code, 2, stderr);
    const { events, failures } = JSON.parse(stdout) as { events: []; failures: object[] };
    assert.equal(events.length, 1);
    assert.deepEqual(
      failures.map((one) => 'reason' in one && one.reason),
      ['invalid-reply'],
    );
  });

  it('does not repeat connections of the next node after a list that is not complete', async () => {
    // They are asked in the order of their names.
    const next = good.address.replace('127.0.0.1', 'localhost');
    const servers = ['--server', other.address, '--server', next];
    const { code, stdout, stderr } = await program.run('connectivity', ...servers);
    assert.equal(stdout, 'shop/web => shop/db : TCP 80\n');
    assert.equal(code, 1);
    assert.match(stderr, /the list ends after 1 connections/);
  });

  it('shows all events since a time before the first agent', async () => {
    const args = ['events', '--since', '999999999d', '--server', good.address];
    const { code, stdout, stderr } = await program.run(...args);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /Add Pod/);
  });

  for (const ends of [[], ['shop/web']])
    it(`refuses a port of connectivity with ${ends.length} ends`, async () => {
      const args = ['connectivity', ...ends, '--to-port', '80', '--server', good.address];
      const { code, stdout, stderr } = await program.run(...args);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /^netctl: --to-port needs both ends of a connection\n/);
    });

  it('says by the exit code that no pod has the name', async () => {
    const { code } = await program.run('connectivity', 'shop/nix', '--server', good.address);
    assert.equal(code, 3);
  });

  it('says by the exit code that values of a node could not be read', async () => {
    const { code, stdout } = await program.run('plan', '--server', good.address);
    assert.match(stdout, /not read/);
    assert.equal(code, 3);
  });

  it('shows why an agent is in the state ERROR', async () => {
    const { stderr } = await program.run('nodes', '--server', good.address);
    assert.match(stderr, /etcd: no leader/);
  });

  it('shows the state of an agent whose node has no address yet', async () => {
    await using starting = await fakeAgent({
      liveness: { state: 2, PluginStatus: { GOVPP: { state: 2, error: 'VPP is not connected' } } },
      'contiv/v1/ipam': (reply) => void reply.writeHead(500).end('"Error getting node IP"'),
    });
    const { code, stdout, stderr } = await program.run('nodes', '--server', starting.address);
    assert.equal(code, 0);
    assert.match(stdout, /127\.0\.0\.1.+ERROR/);
    assert.match(stderr, /GOVPP: VPP is not connected/);
  });

  it('says that the output cannot be written', async () => {
    const script = `netctl nodes --server ${good.address} > /dev/full`;
    const { code, stderr } = await program.start('bash', ['-c', script]);
    assert.equal(code, 1);
    assert.match(stderr, /the output cannot be written: ENOSPC/);
  });

  for (const columns of [0, 2])
    it(`prints in a terminal with ${columns} columns`, async () => {
      const script = `stty cols ${columns}; netctl nodes --server ${STOPPED}`;
      const args = ['20', 'script', '-qec', script, '/dev/null'];
      const { stdout, code } = await program.start('timeout', args);
      assert.equal(code, 1);
      assert.match(stdout.replaceAll(/\s/g, ''), /--porthere\.$/);
    });

  it('ends quietly when the reader of the output has enough', async () => {
    const script = `netctl events -o json --server ${good.address} | head -c 1`;
    const { stdout, stderr } = await program.start('bash', ['-c', script]);
    assert.equal(stdout, '{');
    assert.equal(stderr, '');
  });

  for (const option of ['--port=70000', '--port=1.5', '--port=0', '--timeout=1e10', '--timeout=-1'])
    it(`refuses ${option}`, async () => {
      const { code, stderr } = await program.run('nodes', option, '--server', STOPPED);
      assert.equal(code, 1);
      assert.match(stderr, /Not a number from 1 to/);
    });
});
