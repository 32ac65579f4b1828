/** The commands against two agents that share a store; one is stopped in the middle. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { ExitCode, type OutputFormat } from '#netctl/command.ts';
import { SIMULATED_VERSION } from '#simulator/vpp/session.ts';
import { addPod, makeNode, type RunningAgent, startAgent, until } from '#test/cmd/agent/harness.ts';
import { netctlIn } from '../support/in-process.ts';

const pods = [
  { name: 'web', containerId: 'c1', netns: '/run/netns/web' },
  { name: 'db', containerId: 'c2', netns: '/run/netns/db' },
];

describe('netctl with two nodes', { timeout: 120_000 }, () => {
  const agents: RunningAgent[] = [];

  before(async () => {
    const first = makeNode();
    const second = { ...makeNode(), cluster: first.cluster };
    agents.push(await startAgent(first, { label: 'node1' }));
    agents.push(await startAgent(second, { label: 'node2' }));
    for (const [at, pod] of pods.entries()) await addPod(agents[at]!, pod);
  });
  after(async () => {
    for (const agent of agents) await agent.stop();
  });

  function netctl(name: string, format: OutputFormat = 'table') {
    const nodes = agents.map(({ agent }, at) => ({
      name: `node${at + 1}`,
      port: ports[at] ?? agent.port,
    }));
    return netctlIn(name, { nodes, format, width: 80 });
  }

  const ports: number[] = [];

  it('shows what both see', async () => {
    const policies = netctl('policies');
    assert.equal(await policies.run(), ExitCode.Success);
    assert.match(policies.text(), /^node1 +default\/web +open +open +applied$/m);
    assert.match(policies.text(), /^node2 +default\/db +open +open +applied$/m);
    const services = netctl('services');
    assert.equal(await services.run(), ExitCode.Success);
    const attached = netctl('pods', 'json');
    assert.equal(await attached.run(), ExitCode.Success);
    const { pods: found } = JSON.parse(attached.text()) as {
      pods: { name: string; node: string; serviceTranslation: string }[];
    };
    assert.deepEqual(
      found.map(({ name, node, serviceTranslation }) => `${name} ${node} ${serviceTranslation}`),
      ['web node1 packets', 'db node2 packets'],
    );
    const plan = netctl('plan', 'json');
    assert.equal(await plan.run(), ExitCode.Success, plan.text());
    const trace = netctl('trace');
    await trace.run({ arguments: { from: ['web'], to: ['db'] } });
    assert.match(trace.text(), /node1\/vpp/);
  });

  it('tests what policies and services say, by traces', async () => {
    const { run, text } = netctl('test');
    assert.equal(await run(), ExitCode.Success, text());
    assert.match(text(), /^node answers +ok +2 of 2/m);
    // They are attached, and no objects of Kubernetes.
    assert.match(text(), /^policy denies +skipped +default\/\w+ or default\/\w+ is not known/m);
    assert.match(text(), /By traces .* no packet was sent/s);
  });

  it('shows the state of both, with the releases of agent and VPP', async () => {
    const { run, text } = netctl('status', 'json');
    assert.equal(await run(), ExitCode.Negative, text());
    const { nodes, problems } = JSON.parse(text()) as {
      nodes: { state: string; vpp: object }[];
      problems: { text: string }[];
    };
    const vpp = { version: SIMULATED_VERSION };
    assert.deepEqual(
      nodes.map((node) => [node.state, node.vpp]),
      [
        ['ready', vpp],
        ['ready', vpp],
      ],
    );
    // there is no API server
    const [first, second, ...more] = problems.map((one) => one.text);
    assert.match(first!, /node2 cannot be reached: its Node object has no address/);
    assert.match(second!, /node1 cannot be reached: its Node object has no address/);
    assert.deepEqual(more, []);
  });

  it('explains a pod that no node knows', async () => {
    const { run, text } = netctl('policies');
    assert.equal(await run({ arguments: { node: ['default/nix'] } }), ExitCode.Negative);
    assert.match(text(), /Pod default\/nix is not attached to the network of any node/);
  });

  it('merges the events of both in the order of time', async () => {
    const { run, text } = netctl('events', 'json');
    assert.equal(await run({ options: { kind: 'add pod' } }), ExitCode.Success);
    const { events } = JSON.parse(text()) as { events: { node: string; Name: string }[] };
    assert.deepEqual(
      events.map(({ node, Name }) => `${node} ${Name}`),
      ['node1 Add Pod default/web', 'node2 Add Pod default/db'],
    );
  });

  it('follows the events until it is ended', async () => {
    const { run, aborter, text } = netctl('events');
    const ended = run({ options: { follow: true, kind: 'add pod' } });
    await systemClock.sleep(1_000);
    const pod = { name: 'new', containerId: 'c3', netns: '/run/netns/new' };
    await addPod(agents[1]!, pod);
    await until(() => /node2 .*Add Pod default\/new/.test(text()));
    aborter.abort(new Error('ended'));
    assert.equal(await ended, ExitCode.Success);
  });

  it('shows one node when the other one is stopped', async () => {
    ports.push(...agents.map(({ agent }) => agent.port));
    await agents[1]!.stop();
    for (const name of ['services', 'policies', 'events', 'plan']) {
      const { run, text, warned } = netctl(name, 'json');
      assert.equal(await run(), ExitCode.Partial, name);
      const { failures } = JSON.parse(text()) as { failures: { node: string; reason: string }[] };
      assert.deepEqual(
        failures.map(({ node, reason }) => `${node} ${reason}`),
        ['node2 refused'],
        name,
      );
      assert.ok(warned.length > 0, name);
    }
    const table = netctl('policies');
    await table.run();
    assert.match(table.text(), /^node2 +connection refused$/m);
    const connectivity = netctl('connectivity');
    assert.equal(await connectivity.run(), ExitCode.Success, 'one node is enough');
  });
});
