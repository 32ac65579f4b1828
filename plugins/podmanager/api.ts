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

export interface PodId {
  readonly namespace: string;
  readonly name: string;
}

/** `<namespace>/<name>`. */
export function podIdText(pod: PodId): string {
  return `${pod.namespace}/${pod.name}`;
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
  /** Path of the network namespace. */
  readonly networkNamespace: string;
  /** Identity of the namespace when the pod was added; undefined if the path did not exist. */
  readonly namespaceIdentity: { readonly device: number; readonly inode: number } | undefined;
}

/** `<containerId>/<interfaceName>`: the key of an attachment. */
export type AttachmentId = string;

export function attachmentId(
  attachment: Pick<Attachment, 'containerId' | 'interfaceName'>,
): AttachmentId {
  return `${attachment.containerId}/${attachment.interfaceName}`;
}

export interface PodManagerApi {
  /** Attachments of this node by their id. */
  attachments(): ReadonlyMap<AttachmentId, Attachment>;
  /** Attachments of one pod, newest last; empty if the pod is not on this node. */
  attachmentsOf(pod: PodId): readonly Attachment[];
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
