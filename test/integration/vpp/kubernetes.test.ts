/**
 * The whole way from kubectl to packets: kube-apiserver, contiv-ksr, etcd, the agents and VPPs of two
 * nodes, and pods that contiv-cni attaches.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Target } from '#test/services/service-cluster.ts';
import {
  withoutCompiler,
  withoutKubeControllers,
  withoutKubernetes,
  withoutNodes,
} from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import {
  KubernetesCluster,
  MAIN_INTERFACE,
  type RunningPod,
} from '../support/kubernetes-cluster.ts';

const skip = withoutNodes() || withoutCompiler() || withoutKubernetes() || withoutKubeControllers();

const PORT = 8080;
/** A connection that is not answered takes 5 s. */
const LIMIT_MS = 60_000;

describe('a cluster that is configured by kubectl', { skip, timeout: 600_000 }, () => {
  let cluster: KubernetesCluster;
  let client: RunningPod;
  let near: RunningPod;
  let far: RunningPod;
  before(async () => {
    cluster = await KubernetesCluster.start();
    client = await cluster.run('client', { node: 'node1', labels: { role: 'client' } });
    near = await cluster.run('near', { node: 'node1', labels: { app: 'web' }, port: PORT });
    far = await cluster.run('far', { node: 'node2', labels: { app: 'web' }, port: PORT });
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  const at = (address: string, protocol: Target['protocol'] = 'TCP'): Target => ({
    address,
    port: PORT,
    protocol,
  });

  /** Resolves when a connection is answered. @returns the name of the backend */
  async function answered(from: RunningPod, to: Target): Promise<string> {
    let backend = '';
    await until(
      `${to.address} answers ${from.name}`,
      async () => {
        const answer = await cluster.connect(from, to);
        if (answer.result === 'answered') backend = answer.backend;
        return answer.result === 'answered';
      },
      LIMIT_MS,
    );
    return backend;
  }

  async function unanswered(from: RunningPod, to: Target): Promise<void> {
    const isClosed = async () => (await cluster.connect(from, to)).result !== 'answered';
    await until(`${to.address} does not answer ${from.name}`, isClosed, LIMIT_MS);
  }

  /** Resolves when exactly these pods serve the address. */
  async function servedBy(address: string, ...names: readonly string[]): Promise<void> {
    await until(
      `${address} is served by ${names.join(', ')}`,
      async () => {
        const answers = await client.station.connect(at(address), 16);
        const found = new Set(
          answers.map((answer) => (answer.result === 'answered' ? answer.backend : answer.result)),
        );
        return [...found].sort().join() === [...names].sort().join();
      },
      LIMIT_MS,
    );
  }

  it('connects the pods of both nodes', async () => {
    for (const pod of [near, far]) assert.equal(await answered(client, at(pod.address)), pod.name);
  });

  it('serves a service from its pods, as they come and go', async () => {
    cluster.applyService('web', 'web', PORT);
    const address = await cluster.addressOf('web');
    await servedBy(address, 'near', 'far');
    await answered(client, at(address, 'UDP'));
    const third = await cluster.run('third', {
      node: 'node2',
      labels: { app: 'web' },
      port: PORT,
    });
    await servedBy(address, 'near', 'far', 'third');
    await cluster.end(third);
    await servedBy(address, 'near', 'far');
    cluster.delete('service', 'web');
    await unanswered(client, at(address));
  });

  it('enforces a policy, its change and its deletion', async () => {
    const targets = [near, far].map(({ address }) => at(address));
    const podSelector = { matchLabels: { app: 'web' } };
    cluster.applyPolicy('web', { podSelector, policyTypes: ['Ingress'] });
    for (const target of targets) await unanswered(client, target);
    const from = [
      {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } },
        podSelector: { matchLabels: { role: 'client' } },
      },
    ];
    cluster.applyPolicy('web', { podSelector, policyTypes: ['Ingress'], ingress: [{ from }] });
    for (const target of targets) await answered(client, target);
    const other = await cluster.run('other', { node: 'node2' });
    for (const target of targets) await unanswered(other, target);
    cluster.apiServer.kubectl('label', 'pod', 'other', 'role=client');
    for (const target of targets) await answered(other, target);
    cluster.apiServer.kubectl('label', 'pod', 'other', 'role-');
    for (const target of targets) await unanswered(other, target);
    cluster.delete('networkpolicy', 'web');
    for (const target of targets) await answered(other, target);
    await cluster.end(other);
  });

  it('isolates by each policy that the API server accepts: leading zeros, no specification', async () => {
    const targets = [near, far].map(({ address }) => at(address));
    const other = await cluster.run('other', { node: 'node2' });
    const zeros = client.address.replace(/\d+/g, (part) => part.padStart(3, '0'));
    cluster.applyPolicy('web', {
      podSelector: { matchLabels: { app: 'web' } },
      ingress: [{ from: [{ ipBlock: { cidr: `${zeros}/032` } }] }],
    });
    for (const target of targets) await unanswered(other, target);
    for (const target of targets) await answered(client, target);
    cluster.delete('networkpolicy', 'web');
    for (const target of targets) await answered(other, target);
    cluster.applyPolicy('all', undefined);
    for (const target of targets) await unanswered(other, target);
    for (const target of targets) await unanswered(client, target);
    cluster.delete('networkpolicy', 'all');
    for (const target of targets) await answered(other, target);
    await cluster.end(other);
  });

  it('catches up with what kubectl has changed while contiv-ksr and an agent were killed', async () => {
    const podSelector = { matchLabels: { app: 'web' } };
    await cluster.ksr.end('SIGKILL');
    await far.node.node.agent.end('SIGKILL');
    cluster.applyPolicy('closed', { podSelector, policyTypes: ['Ingress'] });
    cluster.applyService('late', 'web', PORT);
    const address = await cluster.addressOf('late');
    cluster.ksr.run();
    await far.node.node.agent.start();
    await unanswered(client, at(near.address));
    await unanswered(client, at(far.address));
    cluster.delete('networkpolicy', 'closed');
    await servedBy(address, 'near', 'far');
    cluster.delete('service', 'late');
  });

  it('continues when API server and etcd are killed', async () => {
    await cluster.apiServer.kill();
    await cluster.cluster.etcd.kill();
    assert.equal(await answered(client, at(far.address)), 'far');
    await cluster.cluster.etcd.start();
    await cluster.apiServer.run();
    cluster.applyService('again', 'web', PORT);
    const address = await cluster.addressOf('again');
    await servedBy(address, 'near', 'far');
    cluster.delete('service', 'again');
  });

  it('decides about a NodeConfig, and says so in its status', async () => {
    const decided = (state: string) =>
      until(`the state is ${state}`, () => cluster.nodeConfigState('node2') === state, LIMIT_MS);
    await decided('Applied');
    cluster.applyNodeConfig('node2', 'missing');
    await decided('Refused');
    assert.equal(await answered(client, at(far.address)), 'far');
    cluster.applyNodeConfig('node2', MAIN_INTERFACE);
    await decided('Applied');
    assert.equal(await answered(client, at(far.address)), 'far');
  });
});
