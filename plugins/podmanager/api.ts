/**
 * Pods of this node, as attachments: one interface of one sandbox container. A recreated pod with the
 * same name is another container, hence another attachment, so late requests for the older one never
 * affect the newer one.
 */
import {
  Direction,
  defineEvent,
  EventMethod,
  TransactionType,
} from '#plugins/controller/api/event.ts';
import type { RevertContext } from '#plugins/controller/api/event-handler.ts';
import type { MarkedLink } from '#plugins/controller/api/ports/host.ts';

export { changesTranslation, wantsPackets } from './service-translation.ts';

export interface PodId {
  readonly namespace: string;
  readonly name: string;
}

/** The pod of an adopted attachment, until a Pod record with its address is known. */
export const unknownPod: PodId = { namespace: '', name: '' };

/** `<namespace>/<name>`. */
export function podIdText(pod: PodId): string {
  return pod.name === '' ? 'unknown pod' : `${pod.namespace}/${pod.name}`;
}

export interface Attachment {
  /** ID of the sandbox container in the container runtime. */
  readonly containerId: string;
  /** Name of the interface inside the pod, `eth0` by default. */
  readonly interfaceName: string;
  readonly pod: PodId;
  /** UID of the Pod object, if the runtime passed it (`K8S_POD_UID`). */
  readonly podUid: string | undefined;
  /** Name of the CNI network; undefined if the request did not contain it. */
  readonly network: string | undefined;
  /** Path of the network namespace; empty: an adopted attachment whose namespace was not found. */
  readonly networkNamespace: string;
  /** Identity of the namespace when the pod was added; undefined if the path did not exist. */
  readonly namespaceIdentity: { readonly device: number; readonly inode: number } | undefined;
  /** Set if this agent has found the attachment instead of adding it. */
  readonly adopted?: AdoptedLink | undefined;
  /** RFC 3339: when it was added; undefined: it was found, or recorded by an earlier release. */
  readonly attachedAt?: string | undefined;
}

/** Properties of an adopted link. Those of an added one are computed from the ID of its container. */
export interface AdoptedLink {
  /** The container ID is only the beginning of the ID: names in VPP and Linux contain no more of it. */
  readonly isIdCut: boolean;
  /** Empty: unknown. */
  readonly macs: { readonly linux: string; readonly vpp: string };
  /** Without prefix length; undefined: unknown. */
  readonly address: string | undefined;
  /** Those of the second family; absent: there is none. */
  readonly furtherAddresses?: readonly string[];
}

/** All addresses of an adopted link. */
export function addressesOfLink({
  address,
  furtherAddresses = [],
}: Pick<AdoptedLink, 'address' | 'furtherAddresses'>): readonly string[] {
  return address === undefined ? [] : [address, ...furtherAddresses];
}

/** Prefix of the attachments in the local store: without one of this boot, no pod of this node has an address. */
export const ATTACHMENT_PREFIX = 'local/podmanager/attachment/';

/**
 * Boot ID of the machine when an attachment was recorded.
 * @param text record under `ATTACHMENT_PREFIX`
 * @returns undefined for an invalid record
 */
export function recordedBootId(text: string): string | undefined {
  try {
    const { bootId } = JSON.parse(text) as { bootId?: unknown };
    return typeof bootId === 'string' ? bootId : undefined;
  } catch {
    return undefined;
  }
}

/** `<containerId>/<interfaceName>`: the key of an attachment. */
export type AttachmentId = string;

export function attachmentId(link: ContainerInterface): AttachmentId {
  return `${link.containerId}/${link.interfaceName}`;
}

/** An interface of a container. */
export type ContainerInterface = Pick<Attachment, 'containerId' | 'interfaceName'>;

/** The container of a link, as its names tell. */
export interface LinkOwner extends ContainerInterface {
  /** The name had no space for the whole ID of the container. */
  readonly isIdCut: boolean;
}

/** The owner of a link of Linux, and where in VPP it ends. */
export interface LinuxLinkOwner {
  readonly owner: LinkOwner;
  /** Logical name of the interface of VPP. */
  readonly vppInterface: string;
  /** The end of a veth pair that stays in the namespace of the agent. */
  readonly isHostEnd: boolean;
}

/** How the wiring names the links of pods; the names are the marks of pods in VPP and Linux. */
export interface LinkNaming {
  /** @returns undefined for an interface that is not that of a pod */
  ofVppInterface(logicalName: string): LinkOwner | undefined;
  /** @returns undefined for a link that is not that of a pod */
  ofLinuxLink(
    link: Pick<MarkedLink, 'name' | 'logicalName' | 'otherEnd'>,
  ): LinuxLinkOwner | undefined;
  /** Logical names that the interface of VPP has, depending on the type of the link. */
  vppInterfacesOf(link: ContainerInterface): readonly string[];
}

/** The part of a handler's context that calls of other plugins need to call ports. */
export type PortContext = Pick<RevertContext, 'callPort'>;

export interface PodManagerApi {
  /** Attachments of this node by their id. */
  attachments(): ReadonlyMap<AttachmentId, Attachment>;
  /** Attachments of one pod, newest last; empty if the pod is not on this node. */
  attachmentsOf(pod: PodId): readonly Attachment[];
  /** Key of the attachment, which may contain only the beginning of the container ID if it was adopted. */
  idOf(link: ContainerInterface): AttachmentId;
  /** The addresses to which VPP sends the packets for an attachment, at most one of each family. */
  addressesInVpp(ctx: PortContext, id: AttachmentId): Promise<readonly string[]>;
  /**
   * Whether the path of the attachment, at the last resync, led to another namespace than when the
   * pod was added (paths and PIDs are reused): nothing may be configured through it.
   */
  isDisplaced(attachment: AttachmentId): boolean;
}

export interface AddPodPayload {
  readonly pod: PodId;
  readonly podUid?: string | undefined;
  readonly containerId: string;
  readonly interfaceName: string;
  readonly network?: string | undefined;
  readonly networkNamespace: string;
  /** CNI IPAM plugin and its result, with an external IPAM. */
  readonly ipamType: string;
  readonly ipamData: string;
}

export interface PodAddress {
  readonly family: 4 | 6;
  /** CIDR, for example `10.1.1.2/32`. */
  readonly address: string;
  /** Address without prefix length. */
  readonly gateway: string;
}

/** Reply of a handler to Add Pod. */
export interface AddPodReply {
  readonly interfaces?: readonly {
    /** Name inside the pod. */
    readonly name: string;
    readonly mac: string;
    readonly sandbox: string;
    readonly addresses: readonly PodAddress[];
  }[];
  readonly routes?: readonly { readonly destination: string; readonly gateway: string }[];
}

function containerLines(payload: { containerId: string; networkNamespace: string }): string {
  return `\n* Container: ${payload.containerId}\n* Network namespace: ${payload.networkNamespace}`;
}

export const AddPod = defineEvent<AddPodPayload, AddPodReply>({
  id: 'add-pod',
  blocking: true,
  name: (payload) => `Add Pod ${podIdText(payload.pod)}`,
  describe: (payload) => `Add Pod ${podIdText(payload.pod)}${containerLines(payload)}`,
  method: EventMethod.Update,
  transactionType: TransactionType.RevertOnFailure,
  direction: Direction.Forward,
  origin: ({ containerId }) => ({ container: containerId }),
});

export interface DeletePodPayload {
  readonly pod: PodId;
  readonly containerId: string;
  readonly interfaceName: string;
}

export const DeletePod = defineEvent<DeletePodPayload>({
  id: 'delete-pod',
  blocking: true,
  name: (payload) => `Delete Pod ${podIdText(payload.pod)}`,
  describe: (payload) =>
    `Delete Pod ${podIdText(payload.pod)}\n* Container: ${payload.containerId}`,
  method: EventMethod.Update,
  transactionType: TransactionType.BestEffortIgnoreErrors,
  direction: Direction.Reverse,
  origin: ({ containerId }) => ({ container: containerId }),
});

/** Trailer of the CNI service with the encoded CNIReply of a request that failed. */
export const FAILED_REPLY_TRAILER = 'cni-reply-bin';
