import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import { type AttachmentId, type PodManagerApi, wantsPackets } from '#plugins/podmanager/api.ts';
import type { PodContainer } from './socket/exempt-pods.ts';

export interface LocalInterfacesDeps {
  readonly net: Pick<Ipv4NetApi, 'podInterfaces'>;
  readonly pods: Pick<PodManagerApi, 'attachments'>;
  readonly ipam: Pick<IpamApi, 'podAddresses'>;
}

/** An attachment of this node that is wired. */
export interface PodInterface {
  readonly attachment: AttachmentId;
  /** Logical name. */
  readonly vppInterface: string;
  /** Of the pod, without prefix length. */
  readonly addresses: readonly string[];
  readonly container: PodContainer;
  /** Whether its packets are to be translated instead of its sockets. */
  readonly wantsPackets: boolean;
}

/** undefined: the attachment is not wired. */
export function podInterface(
  { net, pods, ipam }: LocalInterfacesDeps,
  kubeState: KubeState,
  attachment: AttachmentId,
): PodInterface | undefined {
  const vppInterface = net.podInterfaces(attachment)?.vpp;
  const container = pods.attachments().get(attachment);
  if (vppInterface === undefined || container === undefined) return undefined;
  return {
    attachment,
    vppInterface,
    addresses: ipam.podAddresses(attachment),
    container,
    wantsPackets: wantsPackets(kubeState, container.pod),
  };
}

export function podInterfaces(deps: LocalInterfacesDeps, kubeState: KubeState): PodInterface[] {
  const ids = [...deps.pods.attachments().keys()];
  return ids.flatMap((id) => podInterface(deps, kubeState, id) ?? []);
}
