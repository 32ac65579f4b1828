/**
 * Policies of the cluster beside NetworkPolicies on a node: 1,000 pods, of which 100 are on it, 50 of the one and 200 of
 * the other. A resync and the label of a pod are compared with the same without policies of the cluster, and the label with a
 * full recomputation. Each in a fresh process.
 */
import { resources } from '#kubernetes/resources/resources.ts';
import { clusterPolicies } from './lib/cluster-policies.ts';
import { measure } from './lib/measure.ts';
import { PolicyCluster, podKeyOf, podOf } from './lib/policy-cluster.ts';
import { PolicyBenchNode } from './lib/policy-node.ts';
import { type Print, runInSubprocess } from './lib/subprocess.ts';

export const NAME =
  'cluster-policies: 50 beside 200 network policies, 1,000 pods, 100 of them local';

const PODS = 1_000;
const POLICIES = 200;
const ROUNDS = 5;
const CHANGES = 40;
const WARM_UP = 10;

const sizes: Readonly<Record<string, number>> = {
  'without policies of the cluster': 0,
  'with 50 policies of the cluster': 50,
};

export async function run(print: Print): Promise<void> {
  for (const size of Object.keys(sizes)) await runInSubprocess(import.meta.filename, size, print);
}

async function runSize(print: Print, title: string): Promise<void> {
  const cluster = new PolicyCluster({ pods: PODS, policies: POLICIES });
  const attachments = cluster.attachments();
  const records = cluster.records();
  const policies = clusterPolicies(sizes[title]!);
  records.set(
    'clusternetworkpolicy',
    new Map(policies.map((one) => [resources.clusternetworkpolicy.key(one.name, ''), one])),
  );
  const node = new PolicyBenchNode();
  const resyncs: number[] = [];
  for (let round = 0; round < ROUNDS; round++)
    resyncs.push((await measure(() => node.resync(records, attachments))).cpuMs);
  const changes: number[] = [];
  let changed = 0;
  for (let round = 0; round < WARM_UP + CHANGES; round++) {
    const at = (round * 7919) % cluster.pods.length;
    const pod = cluster.pods[at]!;
    const current = podOf(at, Number(pod.namespace.slice(5)), `app-${round % 25}`);
    const change = { resource: 'pod', key: podKeyOf(pod), current };
    const { cpuMs } = await measure(async () => {
      changed += (await node.change(change)).pods.size;
    });
    if (round >= WARM_UP) changes.push(cpuMs);
  }
  const acls = node.acls();
  const rules = acls.reduce((sum, acl) => sum + acl.rules.length, 0);
  const [resync, change] = [median(resyncs), median(changes)];
  print(`${title} (CPU time of the main thread):`);
  print(`    resync: the first ${resyncs[0]!.toFixed(0)} ms, median ${resync.toFixed(0)} ms`);
  print(
    `    label of a pod: median ${change.toFixed(1)} ms, the longest ${Math.max(...changes).toFixed(0)} ms, ` +
      `${(change / resync).toFixed(2)} of the resync; ${(changed / (WARM_UP + CHANGES)).toFixed(1)} pods changed each time`,
  );
  print(
    `    ${acls.length} ACLs with ${rules} rules, the longest ${Math.max(...acls.map((acl) => acl.rules.length))}; ` +
      `${new Set(node.policies().flatMap(({ ingress, egress }) => [ingress, egress])).size} different lists of rules of ${2 * attachments.size}; ` +
      `${node.limited} policies over the limit`,
  );
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

if (import.meta.main) await runSize(console.log, process.argv[2] ?? '');
