/** A source of the nodes and pods of the cluster. */
import { defineError } from '#infra/errors/errors.ts';
import type { ClusterNode, ClusterPod } from '../command.ts';
import type { KubernetesApi } from './kubernetes-api.ts';

export const NodeSourceError = defineError({
  name: 'NodeSourceError',
  code: 'CV_NETCTL_NODES',
  remedy:
    'Say where the nodes are known from with --etcd-config or --kubeconfig, or name them with --server.',
});

export const UnknownNodeError = defineError({
  name: 'UnknownNodeError',
  code: 'CV_NETCTL_UNKNOWN_NODE',
  remedy: 'netctl nodes lists the names of the nodes; an IP address is asked as it is.',
});

export interface NodeSource {
  /** For messages, for example `etcd http://10.0.0.1:2379 (ETCD_CONFIG)`. */
  readonly name: string;
  readonly nodes: readonly ClusterNode[];
  /** Of the API server, when it is the source. */
  readonly kubernetes?: KubernetesApi;
  /** undefined: the source knows no pods. */
  pods(): Promise<readonly ClusterPod[] | undefined>;
  close(): Promise<void>;
}
