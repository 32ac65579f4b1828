import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import type { AttachmentId, PodManagerApi } from '#plugins/podmanager/api.ts';

/** The interfaces of VPP that are not those of pods and carry packets of clients and backends. */
export function nodeInterfaces(net: Ipv4NetApi): string[] {
  const bvi = net.vxlanBvi();
  return [
    ...(bvi === undefined ? [] : [bvi]),
    net.mainInterface(),
    ...net.otherInterfaces(),
    net.hostInterconnect(),
  ];
}

/** The interfaces of VPP by the attachment that is wired with them. */
export function podInterfaces(
  net: Pick<Ipv4NetApi, 'podInterfaces'>,
  pods: Pick<PodManagerApi, 'attachments'>,
): Map<AttachmentId, string> {
  const interfaces = new Map<AttachmentId, string>();
  for (const id of pods.attachments().keys()) {
    const names = net.podInterfaces(id);
    if (names !== undefined) interfaces.set(id, names.vpp);
  }
  return interfaces;
}
