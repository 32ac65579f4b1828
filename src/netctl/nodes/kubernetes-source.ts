/** Nodes and pods from the Kubernetes API server. */
import type { Clock } from '#infra/clock/clock.ts';
import { ApiClient, type RequestLimits } from '#ksr/api-server/api-client.ts';
import { Credentials } from '#ksr/api-server/credentials.ts';
import { HttpTransport } from '#ksr/api-server/http-transport.ts';
import type { ClusterNode, ClusterPod } from '../command.ts';
import { furtherAddresses } from './further-addresses.ts';
import type { NodeSource } from './node-source.ts';

/** Objects per request: some megabytes. */
const PAGE = 500;

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

interface ApiList {
  readonly metadata?: { readonly continue?: string };
  readonly items?: readonly ApiObject[];
}

/** @throws CodedError when the API server does not answer or refuses */
export async function openKubernetesSource(options: KubernetesSourceOptions): Promise<NodeSource> {
  const { file, origin, timeoutMs, clock, signal } = options;
  const transport = new HttpTransport(new Credentials(file), 'contiv-netctl');
  const client = new ApiClient(transport, clock);
  const limits = { silenceMs: timeoutMs, signal };
  const nodes: ClusterNode[] = [];
  for await (const { metadata, status } of objects(client, '/api/v1/nodes', limits)) {
    const address =
      status?.addresses?.find(({ type }) => type === 'InternalIP') ??
      status?.addresses?.find(({ type }) => type === 'ExternalIP');
    const host = address?.address;
    nodes.push({ name: metadata?.name ?? '', id: undefined, host, vppAddress: undefined });
  }
  return {
    name: `Kubernetes API server (${origin})`,
    nodes,
    async pods() {
      const pods: ClusterPod[] = [];
      for await (const { metadata, status } of objects(client, '/api/v1/pods', limits))
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

/** The objects of a kind, page by page. */
async function* objects(
  client: ApiClient,
  path: string,
  limits: RequestLimits,
): AsyncGenerator<ApiObject, void, void> {
  let rest: string | undefined;
  do {
    const query = { limit: String(PAGE), ...(rest && { continue: rest }) };
    const pieces: Uint8Array[] = [];
    for await (const piece of client.read({ method: 'GET', path, query }, limits))
      pieces.push(piece);
    const page = JSON.parse(Buffer.concat(pieces).toString()) as ApiList;
    yield* page.items ?? [];
    rest = page.metadata?.continue;
  } while (rest);
}
