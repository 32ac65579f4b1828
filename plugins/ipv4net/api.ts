/** Interfaces and addresses of this node as other plugins need to know them. Names are logical. */
import { defineEvent, EventMethod } from '#plugins/controller/api/event.ts';
import type { Attachment, AttachmentId } from '#plugins/podmanager/api.ts';

export interface PodInterfaceNames {
  /** In VPP: a TAP or an AF_PACKET interface. */
  readonly vpp: string;
  /** In the pod's namespace. */
  readonly linux: string;
  readonly loopback: string;
}

export interface Ipv4NetApi {
  /** Address of this node on the main interface as CIDR; undefined while there is none. */
  nodeAddress(): string | undefined;
  /** Plain: the configured one, or with DHCP that of the lease; empty when there is none. */
  defaultGateway(): string;
  /** Plain addresses of the host's own links, as of the last resync. */
  hostAddresses(): readonly string[];
  /** The main NIC, or the loopback that stands in for it. */
  mainInterface(): string;
  /** The main interface where DHCP gives it its address; undefined otherwise. */
  leasedInterface(): string | undefined;
  otherInterfaces(): readonly string[];
  /** The VPP side of the link between VPP and the host. */
  hostInterconnect(): string;
  /** The routed interface of the VXLAN bridge domain; undefined without an overlay. */
  vxlanBvi(): string | undefined;
  /** Names for an attachment that is wired; undefined for any other. */
  podInterfaces(attachment: AttachmentId): PodInterfaceNames | undefined;
  /** Keys of all that is configured for an attachment; empty when it is not wired. */
  podKeys(attachment: AttachmentId): readonly string[];
  /** The attachment behind an interface of VPP; undefined when it is no pod's. */
  podByInterface(vppInterface: string): Attachment | undefined;
}

export interface NodeIpChangePayload {
  /** Addresses of this node on the main interface now, as CIDRs; empty: it has lost them. */
  readonly addresses: readonly string[];
  /** Plain address; empty when there is none. */
  readonly defaultGateway: string;
}

/** DHCP has given this node another address: too much follows from that to change it piece by piece. */
export const NodeIpChange = defineEvent<NodeIpChangePayload>({
  id: 'node-ip-change',
  blocking: false,
  name: 'Node IP Change',
  describe: ({ addresses, defaultGateway }) =>
    `Node IP Change\n* addresses: ${addresses.join(', ') || '<none>'}` +
    `\n* default gateway: ${defaultGateway || '<none>'}`,
  method: EventMethod.UpstreamResync,
});
