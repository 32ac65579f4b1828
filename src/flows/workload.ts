import type { Pod } from '#kubernetes/models/pod.ts';

const JOB = 'batch.kubernetes.io/job-name';
const OLD_JOB = 'job-name';
const STATEFUL_SET = 'statefulset.kubernetes.io/pod-name';
const TEMPLATE = 'pod-template-hash';
const REVISION = 'controller-revision-hash';

/**
 * `<namespace>/<name>` of the Deployment, StatefulSet, DaemonSet or Job of a pod; the pod itself if nothing has created it.
 * The records have no owners: labels of the controllers show the kind, and the name of the pod begins with that of its workload.
 */
export function workloadOf({ name, namespace, labels }: Pod): string {
  return `${namespace}/${workloadName(name, labels)}`;
}

function workloadName(name: string, labels: Readonly<Record<string, string>>): string {
  const job = labels[JOB] ?? labels[OLD_JOB];
  if (job) return job;
  const hash = labels[TEMPLATE];
  const at = hash ? name.lastIndexOf(`-${hash}-`) : -1;
  if (at > 0) return name.slice(0, at);
  if (labels[STATEFUL_SET] !== undefined || labels[REVISION] !== undefined)
    return name.replace(/-[a-z0-9]+$/, '');
  return name;
}
