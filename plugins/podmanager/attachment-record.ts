import { ATTACHMENT_PREFIX, type Attachment, type AttachmentId, attachmentId } from './api.ts';

/** Attachments that were deleted, while their interface may still be in VPP. */
export const DELETED_PREFIX = 'local/podmanager/deleted/';
/** Records that could not be read, kept for the analysis. */
export const INVALID_PREFIX = 'local/podmanager/invalid/';

/** An attachment in the local store: one JSON record per attachment. */
export interface AttachmentRecord extends Attachment {
  /** Boot ID of the machine when it was created: network namespaces do not survive a reboot. */
  readonly bootId: string;
  /** Higher than that of all older attachments. */
  readonly order: number;
}

export function attachmentKey(id: AttachmentId): string {
  return ATTACHMENT_PREFIX + id;
}

export function deletedKey(id: AttachmentId): string {
  return DELETED_PREFIX + id;
}

/** @returns undefined for an invalid record */
export function readAttachment(text: string): AttachmentRecord | undefined {
  let value: Partial<AttachmentRecord> | null;
  try {
    value = JSON.parse(text) as Partial<AttachmentRecord> | null;
  } catch {
    return undefined;
  }
  const texts = [
    value?.containerId,
    value?.interfaceName,
    value?.networkNamespace,
    value?.bootId,
    value?.pod?.name,
    value?.pod?.namespace,
  ];
  if (!value || !texts.every((part) => typeof part === 'string')) return undefined;
  if (typeof value.order !== 'number') return undefined;
  const { pod, podUid, network, namespaceIdentity, adopted, attachedAt } =
    value as AttachmentRecord;
  return {
    containerId: value.containerId!,
    interfaceName: value.interfaceName!,
    pod: { namespace: pod.namespace, name: pod.name },
    podUid,
    network,
    networkNamespace: value.networkNamespace!,
    namespaceIdentity,
    adopted,
    attachedAt: typeof attachedAt === 'string' ? attachedAt : undefined,
    bootId: value.bootId!,
    order: value.order,
  };
}

export function attachmentText(record: AttachmentRecord): string {
  return JSON.stringify(record);
}

/** Whether both records are equal, regardless of when they were made. */
export function sameAttachment(a: AttachmentRecord, b: AttachmentRecord): boolean {
  const timeless = { order: 0, attachedAt: undefined };
  return (
    attachmentId(a) === attachmentId(b) &&
    attachmentText({ ...a, ...timeless }) === attachmentText({ ...b, ...timeless })
  );
}
