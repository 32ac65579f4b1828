/** The pods that workloads create. */
import { createHash } from 'node:crypto';
import { namespaceOf } from './objects/meta.ts';
import type { KubePod } from './objects/pod.ts';
import type { JobSpec, PodTemplate, Workload } from './objects/workload.ts';

interface PlannedPod {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly hostname?: string;
}

/**
 * Names are stable: the same workload creates the same pods, so that re-reading a file changes
 * nothing. Pods run on the nodes in turn, beginning with one that depends on the name of the workload,
 * unless their template specifies a node.
 * @param nodeNames names of the nodes; a DaemonSet has a pod on each
 */
export function podsOf(workload: Workload, nodeNames: readonly string[]): KubePod[] {
  const { template, pods, serviceName } = workloadPods(workload, nodeNames.length);
  const { labels, annotations } = template.metadata ?? {};
  const namespace = namespaceOf(workload);
  const uid = stableUid(namespace, workload.metadata.name);
  const first = Number.parseInt(uid.slice(0, 8), 16) % nodeNames.length;
  return pods.map((pod, n) => ({
    kind: 'Pod',
    metadata: {
      name: pod.name,
      namespace,
      uid: stableUid(namespace, pod.name),
      labels: { ...labels, ...pod.labels },
      ...(annotations && { annotations }),
      ownerReferences: [{ kind: workload.kind, name: workload.metadata.name }],
    },
    spec: {
      nodeName: nodeNames[(first + n) % nodeNames.length] ?? '',
      ...(pod.hostname !== undefined && { hostname: pod.hostname }),
      ...(serviceName !== undefined && { subdomain: serviceName }),
      ...template.spec,
    },
  }));
}

interface WorkloadPods {
  readonly template: PodTemplate;
  readonly pods: readonly PlannedPod[];
  readonly serviceName?: string | undefined;
}

function workloadPods(workload: Workload, nodeCount: number): WorkloadPods {
  const { name } = workload.metadata;
  switch (workload.kind) {
    case 'Deployment': {
      const { template, replicas = 1 } = workload.spec;
      const hash = templateHash(template);
      const labels = { 'pod-template-hash': hash };
      return {
        template,
        pods: times(replicas, (n) => ({ name: `${name}-${hash}-${n}`, labels })),
      };
    }
    case 'ReplicaSet':
    case 'ReplicationController': {
      const { template, replicas = 1 } = workload.spec;
      return { template, pods: times(replicas, (n) => ({ name: `${name}-${n}`, labels: {} })) };
    }
    case 'DaemonSet': {
      const { template } = workload.spec;
      const labels = { 'controller-revision-hash': templateHash(template) };
      return { template, pods: times(nodeCount, (n) => ({ name: `${name}-${n}`, labels })) };
    }
    case 'StatefulSet':
      return statefulPlan(name, workload.spec);
    case 'Job':
      return jobPlan(name, workload.spec);
    case 'CronJob': {
      const { suspend, jobTemplate } = workload.spec;
      // one running job
      return jobPlan(`${name}-run`, suspend ? { ...jobTemplate.spec, suspend } : jobTemplate.spec);
    }
  }
}

function statefulPlan(
  name: string,
  spec: Extract<Workload, { kind: 'StatefulSet' }>['spec'],
): WorkloadPods {
  const { template, replicas = 1, serviceName, ordinals } = spec;
  const start = ordinals?.start ?? 0;
  const revision = `${name}-${templateHash(template)}`;
  const pods = times(replicas, (n) => {
    const hostname = `${name}-${start + n}`;
    const labels = {
      'statefulset.kubernetes.io/pod-name': hostname,
      'apps.kubernetes.io/pod-index': String(start + n),
      'controller-revision-hash': revision,
    };
    return { name: hostname, labels, hostname };
  });
  return { template, pods, serviceName };
}

/** The pods that run in parallel. */
function jobPlan(name: string, spec: JobSpec): WorkloadPods {
  const { template, suspend, parallelism = 1, completions = parallelism, completionMode } = spec;
  const indexed = completionMode === 'Indexed';
  const pods = times(suspend ? 0 : Math.min(parallelism, completions), (n) => ({
    name: `${name}-${n}`,
    labels: {
      'job-name': name,
      'batch.kubernetes.io/job-name': name,
      ...(indexed && { 'batch.kubernetes.io/job-completion-index': String(n) }),
    },
  }));
  return { template, pods };
}

function times(count: number, make: (n: number) => PlannedPod): PlannedPod[] {
  return Array.from({ length: count }, (_, n) => make(n));
}

/** Letters and digits that cannot form words, as Kubernetes uses them in names. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** Hash of ten characters of a template, independent of the order of its fields. */
function templateHash(template: PodTemplate): string {
  const text = JSON.stringify(template, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  const digest = createHash('sha256').update(text).digest();
  return Array.from(digest.subarray(0, 10), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

/** A name-based UUID. */
export function stableUid(namespace: string, name: string): string {
  const hex = createHash('sha256').update(`pod/${namespace}/${name}`).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
