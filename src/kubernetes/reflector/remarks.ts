/** The parts of an accepted object that are ignored, for the author of a manifest. */
import { clusterPolicyRemarks } from './cluster-network-policy.ts';
import type { KubeObject } from './objects/object.ts';
import { podRemarks } from './objects/pod.ts';
import { policyRemarks } from './policy.ts';

export function remarksOf(object: KubeObject): string[] {
  switch (object.kind) {
    case 'NetworkPolicy':
      return policyRemarks(object);
    case 'ClusterNetworkPolicy':
      return clusterPolicyRemarks(object);
    case 'Pod':
      return podRemarks('spec', object.spec);
    case 'CronJob':
      return podRemarks(
        'spec.jobTemplate.spec.template.spec',
        object.spec.jobTemplate.spec.template.spec,
      );
    case 'Deployment':
    case 'ReplicaSet':
    case 'ReplicationController':
    case 'DaemonSet':
    case 'StatefulSet':
    case 'Job':
      return podRemarks('spec.template.spec', object.spec.template.spec);
    default:
      return [];
  }
}
