import type { IpamApi } from '#plugins/ipam/api.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import type { AttachmentId, PodManagerApi } from '#plugins/podmanager/api.ts';

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
}

/** undefined: the attachment is not wired. */
export function podInterface(
  { net, ipam }: Omit<LocalInterfacesDeps, 'pods'>,
  attachment: AttachmentId,
): PodInterface | undefined {
  const vppInterface = net.podInterfaces(attachment)?.vpp;
  if (vppInterface === undefined) return undefined;
  return { attachment, vppInterface, addresses: ipam.podAddresses(attachment) };
}

export function podInterfaces(deps: LocalInterfacesDeps): PodInterface[] {
  return [...deps.pods.attachments().keys()].flatMap((id) => podInterface(deps, id) ?? []);
}
