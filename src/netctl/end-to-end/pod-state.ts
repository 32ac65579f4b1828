/** The pods of a test, as their status shows them. */
import type { KubernetesApi } from '../nodes/kubernetes-api.ts';

interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: { readonly reason?: string; readonly message?: string };
}

export interface StartedPod {
  readonly metadata?: { readonly name?: string };
  readonly spec?: {
    readonly containers?: readonly { readonly name?: string; readonly image?: string }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
    readonly containerStatuses?: readonly { readonly state?: ContainerState }[];
  };
}

export interface PodState {
  /** Once it is ready. */
  readonly address: string | undefined;
  /** Once it has ended; empty: it left none. */
  readonly message: string | undefined;
  /** Why it is not ready. */
  readonly reason: string;
}

/** By name. @param path of the namespace */
export async function podStates(
  api: KubernetesApi,
  path: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, PodState>> {
  const found = new Map<string, PodState>();
  for await (const pod of api.list<StartedPod>(`${path}/pods`, signal))
    found.set(pod.metadata?.name ?? '', stateOf(pod));
  return found;
}

function stateOf({ status = {} }: StartedPod): PodState {
  const isReady = status.conditions?.some(
    ({ type, status: is }) => type === 'Ready' && is === 'True',
  );
  const { waiting, terminated } = status.containerStatuses?.[0]?.state ?? {};
  const isOver = status.phase === 'Succeeded' || status.phase === 'Failed';
  const reasons = [status.reason, waiting?.reason, waiting?.message, terminated?.reason];
  return {
    address: isReady ? status.podIP : undefined,
    message: isOver ? (terminated?.message ?? '') : undefined,
    reason: reasons.filter((one) => one).join(', ') || (status.phase ?? 'unknown'),
  };
}
