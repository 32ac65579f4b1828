import { SharedMap } from '#infra/collections/shared-map.ts';
import { type AttachmentId, attachmentId, type ContainerInterface, podIdText } from './api.ts';
import type { AttachmentRecord } from './attachment-record.ts';

/** The attachments of this node, in the order in which they were created, by id and by pod. */
export class AttachmentTable {
  readonly #byId = new SharedMap<AttachmentId, AttachmentRecord>();
  readonly #byPod = new Map<string, Map<AttachmentId, AttachmentRecord>>();
  /** Attachments whose id has only the beginning of the container ID. */
  readonly #cut = new Map<AttachmentId, AttachmentRecord>();

  /** Read-only at run time, too. */
  all(): ReadonlyMap<AttachmentId, AttachmentRecord> {
    return this.#byId.view;
  }

  get(id: AttachmentId): AttachmentRecord | undefined {
    return this.#byId.get(id);
  }

  /** @param pod as `podIdText` */
  ofPod(pod: string): readonly AttachmentRecord[] {
    return [...(this.#byPod.get(pod)?.values() ?? [])];
  }

  idOf(link: ContainerInterface): AttachmentId {
    const id = attachmentId(link);
    if (this.#byId.has(id)) return id;
    for (const [cut, { containerId, interfaceName }] of this.#cut)
      if (interfaceName === link.interfaceName && link.containerId.startsWith(containerId))
        return cut;
    return id;
  }

  /** Adds an attachment, or replaces it in its place. */
  set(record: AttachmentRecord): void {
    const id = attachmentId(record);
    const before = this.#byId.get(id);
    if (before && podIdText(before.pod) !== podIdText(record.pod)) this.#removeOfPod(before);
    this.#byId.set(id, record);
    if (record.adopted?.isIdCut) this.#cut.set(id, record);
    const pod = podIdText(record.pod);
    const ofPod = this.#byPod.get(pod) ?? new Map<AttachmentId, AttachmentRecord>();
    this.#byPod.set(pod, ofPod.set(id, record));
  }

  delete(id: AttachmentId): void {
    const record = this.#byId.get(id);
    if (!record) return;
    this.#byId.delete(id);
    this.#cut.delete(id);
    this.#removeOfPod(record);
  }

  #removeOfPod(record: AttachmentRecord): void {
    const pod = podIdText(record.pod);
    const ofPod = this.#byPod.get(pod)!;
    ofPod.delete(attachmentId(record));
    if (ofPod.size === 0) this.#byPod.delete(pod);
  }
}
