/**
 * A thousand network policies over five thousand pods, of which a hundred are on this node: a resync, from the
 * records to the ACLs, in a fresh process and in a warm one, single changes, and the memory. The same with ten times the pods
 * shows how the cost grows.
 */
import { performance } from 'node:perf_hooks';
import { systemClock } from '#infra/clock/system.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { ProcessorChange } from '#plugins/policy/processor/processor-change.ts';
import { type Measurement, measure } from './lib/measure.ts';
import { namespaceOf, PolicyCluster, podKeyOf, podOf, policyKeyOf } from './lib/policy-cluster.ts';
import { PolicyBenchNode } from './lib/policy-node.ts';
import { type Print, runInSubprocess } from './lib/subprocess.ts';

export const NAME = 'policies: 1,000 over 5,000 and 50,000 pods, 100 of them local';

const POLICIES = 1_000;
const ROUNDS = 5;
const CHANGES = 400;
const WARM_UP = 100;
const RESYNC_TARGET_MS = 2_000;
const CHANGE_TARGET_MS = 5;
const LONGEST_STRETCH_MS = 20;

const sizes: Readonly<Record<string, number>> = { '5,000 pods': 5_000, '50,000 pods': 50_000 };

export async function run(print: Print): Promise<void> {
  for (const size of Object.keys(sizes)) await runInSubprocess(import.meta.filename, size, print);
}

async function runSize(print: Print, title: string): Promise<void> {
  const cluster = new PolicyCluster({ pods: sizes[title]!, policies: POLICIES });
  print(`${title}:`);
  const node = new PolicyBenchNode();
  await resyncs(print, cluster, node);
  await changes(print, cluster, node);
}

/** The first one is that of a fresh process. */
async function resyncs(print: Print, cluster: PolicyCluster, node: PolicyBenchNode): Promise<void> {
  const records = cluster.records();
  const attachments = cluster.attachments();
  const before = heapUsed();
  const resync = () => measure(() => node.resync(records, attachments));
  const first = await resync();
  const memory = heapUsed() - before;
  printResync(print, 'resync in a fresh process', first);
  const warm: Measurement[] = [];
  for (let round = 0; round < ROUNDS; round++) warm.push(await resync());
  const [, , steady] = warm.toSorted((a, b) => a.ms - b.ms);
  printResync(print, 'resync in a warm process', steady!);
  const policies = node.policies();
  const all = policies.flatMap(({ ingress, egress }) => [...ingress.rules, ...egress.rules]);
  const prefixes = all.reduce((sum, { peers }) => sum + peers.prefixes().length, 0);
  print(`    ${policies.length} pods, ${all.length} policy rules with ${prefixes} prefixes`);
  const acls = node.acls();
  const rules = acls.reduce((sum, acl) => sum + acl.rules.length, 0);
  const lists = new Set(acls.map((acl) => acl.rules));
  const largest = Math.max(...acls.map((acl) => acl.rules.length));
  print(
    `    ${acls.length} ACLs with ${rules} rules, ${lists.size} different lists, ` +
      `the longest ${largest} rules; ${node.limited} policies over the limit`,
  );
  print(`    memory besides the records: ${(memory / 2 ** 20).toFixed(1)} MiB`);
}

function printResync(
  print: Print,
  what: string,
  { ms, cpuMs, longest, longestOwnMs }: Measurement,
): void {
  print(
    `    ${what}: ${ms.toFixed(0)} ms${judged(ms <= RESYNC_TARGET_MS, `${RESYNC_TARGET_MS} ms`)}, ` +
      `work of the main thread ${cpuMs.toFixed(0)} ms; ` +
      `longest stretch ${longest.cpuMs.toFixed(1)} ms, without GC ${longestOwnMs.toFixed(1)} ms` +
      judged(longestOwnMs <= LONGEST_STRETCH_MS, `${LONGEST_STRETCH_MS} ms`),
  );
}

async function changes(print: Print, cluster: PolicyCluster, node: PolicyBenchNode): Promise<void> {
  const { pods, policies } = cluster;
  await printChanges(print, node, 'label of a pod', (round) => {
    const at = (round * 7919) % pods.length;
    const pod = pods[at]!;
    const current = podOf(at, Number(pod.namespace.slice(5)), `app-${round % 25}`);
    return node.change({ resource: 'pod', key: podKeyOf(pod), current });
  });
  await printChanges(print, node, 'label of a namespace', (round) => {
    const current = namespaceOf(round % 40, `${round % 8}`);
    const key = resources.namespace.key(current.name, '');
    return node.change({ resource: 'namespace', key, current });
  });
  await printChanges(print, node, 'policy deleted and created', (round) => {
    const policy = policies[((round >> 1) * 7919) % policies.length]!;
    const current = round % 2 === 0 ? undefined : policy;
    return node.change({ resource: 'policy', key: policyKeyOf(policy), current });
  });
  const attachments = [...cluster.attachments()];
  await printChanges(print, node, 'attachment deleted and added', (round) => {
    const [id, pod] = attachments[(round >> 1) % attachments.length]!;
    return node.setAttachment(id, round % 2 === 0 ? undefined : pod);
  });
}

async function printChanges(
  print: Print,
  node: PolicyBenchNode,
  what: string,
  change: (round: number) => Promise<ProcessorChange>,
): Promise<void> {
  const times: number[] = [];
  let changed = 0;
  const putsBefore = node.puts;
  const work = await measure(async () => {
    for (let round = 0; round < WARM_UP + CHANGES; round++) {
      const start = performance.now();
      const { pods } = await change(round);
      times.push(performance.now() - start);
      changed += pods.size;
      await systemClock.turn();
    }
  });
  const steady = times.slice(WARM_UP).sort((a, b) => a - b);
  const quantile = (q: number): number => steady[Math.floor(steady.length * q)]!;
  print(
    `    ${what}: ${quantile(0.5).toFixed(2)} ms` +
      `${judged(quantile(0.5) <= CHANGE_TARGET_MS, `${CHANGE_TARGET_MS} ms`)}, ` +
      `99 % within ${quantile(0.99).toFixed(2)} ms, the first ${times[0]!.toFixed(2)} ms; ` +
      `${(changed / times.length).toFixed(1)} pods and ` +
      `${((node.puts - putsBefore) / times.length).toFixed(1)} ACLs changed each time; ` +
      `longest stretch without GC ${work.longestOwnMs.toFixed(1)} ms`,
  );
}

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const judged = (isMet: boolean, target: string): string =>
  ` (target ${target}: ${isMet ? 'met' : 'MISSED'})`;

if (import.meta.main) await runSize(console.log, process.argv[2] ?? '');
