/** Nodes and pods from the Kubernetes API server. */
import type { Clock } from '#infra/clock/clock.ts';
import { Credentials } from '#ksr/api-server/credentials.ts';
import { HttpTransport } from '#ksr/api-server/http-transport.ts';
import type { ClusterNode, ClusterPod } from '../command.ts';
import { furtherAddresses } from './further-addresses.ts';
import { KubernetesApi } from './kubernetes-api.ts';
import type { NodeSource } from './node-source.ts';

export interface KubernetesSourceOptions {
  /** undefined: the service account of the pod. */
  readonly file: string | undefined;
  /** The flag or variable that names it. */
  readonly origin: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

interface ApiObject {
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly status?: {
    readonly addresses?: readonly { readonly type?: string; readonly address?: string }[];
    readonly podIP?: string;
    readonly podIPs?: readonly { readonly ip?: string }[];
    readonly hostIP?: string;
  };
}

/** @throws CodedError when the API server does not answer or refuses */
export async function openKubernetesSource(options: KubernetesSourceOptions): Promise<NodeSource> {
  const { file, origin, timeoutMs, clock, signal } = options;
  const transport = new HttpTransport(new Credentials(file), 'contiv-netctl');
  const kubernetes = new KubernetesApi(transport, timeoutMs, clock);
  const nodes: ClusterNode[] = [];
  for await (const { metadata, status } of kubernetes.list<ApiObject>('/api/v1/nodes', signal)) {
    const address =
      status?.addresses?.find(({ type }) => type === 'InternalIP') ??
      status?.addresses?.find(({ type }) => type === 'ExternalIP');
    const host = address?.address;
    nodes.push({ name: metadata?.name ?? '', id: undefined, host, vppAddress: undefined });
  }
  return {
    name: `Kubernetes API server (${origin})`,
    nodes,
    kubernetes,
    async pods() {
      const pods: ClusterPod[] = [];
      for await (const { metadata, status } of kubernetes.list<ApiObject>('/api/v1/pods', signal))
        pods.push({
          namespace: metadata?.namespace ?? '',
          name: metadata?.name ?? '',
          address: status?.podIP || undefined,
          ...furtherAddresses(
            status?.podIP,
            (status?.podIPs ?? []).map(({ ip = '' }) => ip),
          ),
          hostAddress: status?.hostIP || undefined,
        });
      return pods;
    },
    close: async () => undefined,
  };
}
