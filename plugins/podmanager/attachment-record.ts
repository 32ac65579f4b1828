import { type Attachment, type AttachmentId, attachmentId } from './api.ts';

export const ATTACHMENT_PREFIX = 'local/podmanager/attachment/';

/** An attachment as the local store keeps it: one record each, JSON. */
export interface AttachmentRecord extends Attachment {
  /** Boot of the machine in which it was made: no namespace outlives it. */
  readonly bootId: string;
  /** Higher than that of all attachments made before. */
  readonly order: number;
}

export function attachmentKey(id: AttachmentId): string {
  return ATTACHMENT_PREFIX + id;
}

/** @returns undefined for a text that is no record */
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
  const { pod, podUid, network, namespaceIdentity } = value as AttachmentRecord;
  return {
    containerId: value.containerId!,
    interfaceName: value.interfaceName!,
    pod: { namespace: pod.namespace, name: pod.name },
    podUid,
    network,
    networkNamespace: value.networkNamespace!,
    namespaceIdentity,
    bootId: value.bootId!,
    order: value.order,
  };
}

export function attachmentText(record: AttachmentRecord): string {
  return JSON.stringify(record);
}

/** Whether both say the same about the same attachment; when it was made does not count. */
export function sameAttachment(a: AttachmentRecord, b: AttachmentRecord): boolean {
  return (
    attachmentId(a) === attachmentId(b) &&
    attachmentText({ ...a, order: 0 }) === attachmentText({ ...b, order: 0 })
  );
}
