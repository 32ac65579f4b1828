/** `netctl test` in a cluster: its pods connect through the VPPs of two nodes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ExitCode } from '#netctl/command.ts';
import { NetctlProgram } from '#test/netctl/support/program.ts';
import {
  withoutCompiler,
  withoutKubeControllers,
  withoutKubernetes,
  withoutNodes,
} from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { KubernetesCluster } from '../support/kubernetes-cluster.ts';
import { PodRunner } from '../support/pod-runner.ts';

const skip = withoutNodes() || withoutCompiler() || withoutKubernetes() || withoutKubeControllers();

interface Report {
  readonly by: string;
  readonly cases: readonly {
    readonly check: string;
    readonly from: string;
    readonly to: string;
    readonly result: string;
    readonly found: string;
  }[];
}

describe('netctl test in a cluster', { skip, timeout: 600_000 }, () => {
  let cluster: KubernetesCluster;
  let runner: PodRunner;
  let netctl: NetctlProgram;
  before(async () => {
    cluster = await KubernetesCluster.start();
    netctl = new NetctlProgram({ KUBECONFIG: cluster.apiServer.kubeconfig() });
    runner = new PodRunner(cluster, (name) => name.startsWith('netctl-test-'), netctl.folder);
  });
  after(async () => {
    await runner?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
    netctl?.[Symbol.dispose]();
  });

  function namespaces(): string[] {
    const names = cluster.apiServer.kubectl('get', 'namespaces', '--output=name');
    return names.split('\n').filter((name) => name.includes('netctl-test-'));
  }

  it('passes, and leaves nothing', async () => {
    const { code, stdout, stderr } = await netctl.run('test', '--image', 'none', '-o', 'json');
    const report = JSON.parse(stdout) as Report;
    const bad = report.cases.filter(({ result }) => result === 'error');
    assert.deepEqual(bad, [], stderr + runner.problems.join('\n'));
    assert.equal(code, ExitCode.Success);
    assert.equal(report.by, 'packets');
    const checks = new Set(report.cases.map(({ check }) => check));
    for (const check of ['pod starts', 'pod to pod, TCP', 'pod to pod, UDP', 'service, UDP'])
      assert.ok(checks.has(check), check);
    assert.ok(report.cases.some(({ from, to }) => from === 'node1' && to === 'node2'));
    assert.deepEqual(namespaces(), []);
    await until('the pods are removed', () => runner.running === 0, 60_000);
  });

  it('tests one node, and shows it as a table', async () => {
    const { code, stdout } = await netctl.run('test', 'node1', '--image', 'none');
    assert.equal(code, ExitCode.Success, stdout);
    assert.match(stdout, /^policy denies a pod +ok +1 of 1/m);
    assert.match(stdout, /^Passed: \d+, failed: 0\. By packets/m);
  });

  it('removes its namespace when it is interrupted', async () => {
    const child = netctl.spawn('test', '--image', 'none');
    await until('pods run', () => runner.running > 0, 60_000);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT');
    assert.equal(await ended, ExitCode.Failure);
    assert.deepEqual(namespaces(), []);
  });
});
