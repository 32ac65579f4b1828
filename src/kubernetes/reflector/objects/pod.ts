import { type Static, Type } from 'typebox';
import { objectSchema, PortOrNone, Protocol, Text } from './meta.ts';

const Container = Type.Object({
  name: Type.Optional(Text),
  restartPolicy: Type.Optional(Text),
  ports: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.Optional(Text),
        containerPort: Type.Optional(PortOrNone),
        hostPort: Type.Optional(PortOrNone),
        protocol: Type.Optional(Protocol),
        hostIP: Type.Optional(Text),
      }),
    ),
  ),
});
export type KubeContainer = Static<typeof Container>;

export const PodSpec = Type.Object({
  nodeName: Type.Optional(Text),
  hostNetwork: Type.Optional(Type.Boolean()),
  runtimeClassName: Type.Optional(Type.String()),
  hostname: Type.Optional(Text),
  subdomain: Type.Optional(Text),
  containers: Type.Optional(Type.Array(Container)),
  initContainers: Type.Optional(Type.Array(Container)),
});
export type PodSpec = Static<typeof PodSpec>;

export const KubePod = objectSchema('Pod', {
  spec: Type.Optional(PodSpec),
  status: Type.Optional(
    Type.Object({
      phase: Type.Optional(Text),
      podIP: Type.Optional(Text),
      podIPs: Type.Optional(Type.Array(Type.Object({ ip: Type.Optional(Text) }))),
      hostIP: Type.Optional(Text),
      conditions: Type.Optional(Type.Array(Type.Object({ type: Text, status: Text }))),
    }),
  ),
});
export type KubePod = Static<typeof KubePod>;

/** Ports with a number. */
export function numberedPorts(
  container: KubeContainer,
): (NonNullable<KubeContainer['ports']>[number] & { containerPort: number })[] {
  return (container.ports ?? []).flatMap((port) =>
    port.containerPort === undefined ? [] : [{ ...port, containerPort: port.containerPort }],
  );
}

/** The parts of an accepted pod that are ignored. */
export function podRemarks(path: string, spec: PodSpec | undefined): string[] {
  return (spec?.containers ?? []).flatMap((container, at) =>
    (container.ports ?? []).flatMap(({ containerPort }, position) =>
      containerPort === undefined
        ? [`${path}.containers[${at}].ports[${position}] is ignored: it has no containerPort`]
        : [],
    ),
  );
}

/** Containers whose ports are reachable, including sidecars (restartable init containers). */
export function longRunningContainers(pod: KubePod): readonly KubeContainer[] {
  const sidecars = pod.spec?.initContainers?.filter((one) => one.restartPolicy === 'Always') ?? [];
  return [...(pod.spec?.containers ?? []), ...sidecars];
}

const MIRROR = 'kubernetes.io/config.mirror';
const STATIC_UID = 'kubernetes.io/config.hash';

/**
 * The UID that container runtimes know. That of a static pod is from its kubelet: its object in the API (mirror pod)
 * has another UID, and an annotation with the one from the kubelet.
 */
export function runtimeUid({ metadata: { uid, annotations } }: KubePod): string | undefined {
  return annotations?.[MIRROR] === undefined ? uid : (annotations[STATIC_UID] ?? uid);
}

/** All addresses, the main one first; empty if it has none yet. */
export function podAddresses(pod: KubePod): readonly string[] {
  const main = pod.status?.podIP ?? '';
  const listed = (pod.status?.podIPs ?? []).map(({ ip }) => ip ?? '');
  return [...new Set([main, ...listed])].filter((address) => address !== '');
}

/** Whether the pod has terminated: its address may belong to another pod by now. */
export function hasEnded(pod: KubePod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}
