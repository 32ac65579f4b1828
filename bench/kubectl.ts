/**
 * Time from the start of `kubectl apply` to the first packet that obeys: a service that answers for the
 * first time, a policy that closes a running flow, and one that opens a closed port. Between pods of two
 * nodes with VPP, through kube-apiserver, contiv-ksr, etcd and both agents. The reference is kubectl
 * itself, in the same rounds. Endpoints of a service come from the controllers of Kubernetes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  KubernetesCluster,
  type RunningPod,
} from '#test/integration/support/kubernetes-cluster.ts';
import {
  withoutCompiler,
  withoutKubeControllers,
  withoutKubernetes,
  withoutNodes,
} from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { quantile } from './lib/floor/row.ts';
import type { Print } from './main.ts';

export const NAME = 'kubectl apply to the first packet that obeys';

const ROUNDS = 40;
const PORT = 8080;
const podSelector = { matchLabels: { app: 'web' } };
const DENY = { podSelector, policyTypes: ['Ingress'] };
/** Without a message for so long, a flow that had one every few milliseconds is closed. */
const SILENCE_MS = 1_000;

interface Times {
  /** From the start of kubectl to its end, in ms. */
  readonly kubectl: number[];
  /** From the start of kubectl to the packet, in ms. */
  readonly packet: number[];
}

export async function run(print: Print): Promise<void> {
  const missing =
    withoutNodes() || withoutCompiler() || withoutKubernetes() || withoutKubeControllers();
  if (missing) return print(`not measured: ${missing}`);
  await using cluster = await KubernetesCluster.start();
  const client = await cluster.run('client', { node: 'node1' });
  const server = await cluster.run('web', { node: 'node2', port: PORT });
  const services: Times = { kubectl: [], packet: [] };
  const denials: Times = { kubectl: [], packet: [] };
  const permits: Times = { kubectl: [], packet: [] };
  for (let round = 0; round < ROUNDS; round++) {
    await measureService(cluster, client, services, `service-${round}`);
    await measurePolicies(cluster, client, server, denials, permits);
  }
  report(print, 'a service answers', services);
  report(print, 'a policy closes a running flow', denials);
  report(print, 'a policy opens a closed port', permits);
}

function report(print: Print, what: string, { kubectl, packet }: Times): void {
  const text = (times: readonly number[]) =>
    `p50 ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`;
  const ratio = (rank: number) => (quantile(packet, rank) / quantile(kubectl, rank)).toFixed(2);
  print(
    `${what}: ${text(packet)}; kubectl alone: ${text(kubectl)}; ratio ${ratio(0.5)}, ${ratio(0.99)}`,
  );
}

async function measureService(
  cluster: KubernetesCluster,
  client: RunningPod,
  times: Times,
  name: string,
): Promise<void> {
  const start = Date.now();
  cluster.applyService(name, 'web', PORT);
  times.kubectl.push(Date.now() - start);
  const address = await cluster.addressOf(name);
  const answeredAt = await client.station.firstAnswer({ address, port: PORT, protocol: 'UDP' });
  times.packet.push(answeredAt - start);
  cluster.delete('service', name);
}

async function measurePolicies(
  cluster: KubernetesCluster,
  { station }: RunningPod,
  server: RunningPod,
  denials: Times,
  permits: Times,
): Promise<void> {
  const target = { address: server.address, port: PORT, protocol: 'UDP' } as const;
  await station.firstAnswer(target);
  const { id } = await station.openFlow({ ...target, protocol: 'TCP' });
  await sleep(100);
  const closing = Date.now();
  cluster.applyPolicy('web', DENY);
  denials.kubectl.push(Date.now() - closing);
  let last = 0;
  await until('the flow is closed', async () => {
    last = (await station.readFlow(id)).lastReturnedAt;
    return Date.now() - last > SILENCE_MS;
  });
  denials.packet.push(Math.max(0, last - closing));
  const opening = Date.now();
  const answered = station.firstAnswer(target);
  cluster.applyPolicy('web', { ...DENY, ingress: [{}] });
  permits.kubectl.push(Date.now() - opening);
  permits.packet.push((await answered) - opening);
  cluster.delete('networkpolicy', 'web');
}
