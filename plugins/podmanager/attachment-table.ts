import type { Journal } from '#plugins/controller/api/journal.ts';
import { Table } from '#plugins/controller/api/table.ts';
import { type AttachmentId, attachmentId, type ContainerInterface, podIdText } from './api.ts';
import type { AttachmentRecord } from './attachment-record.ts';

/** The attachments of this node, in the order in which they were created, by id and by pod. */
export class AttachmentTable {
  readonly #byId: Table<AttachmentId, AttachmentRecord>;
  readonly #byPod: Table<string, readonly AttachmentRecord[]>;
  /** Attachments whose id has only the beginning of the container ID. */
  readonly #cut: Table<AttachmentId, AttachmentRecord>;

  constructor(journal: Journal) {
    this.#byId = new Table(journal);
    this.#byPod = new Table(journal);
    this.#cut = new Table(journal);
  }

  copy(journal: Journal): AttachmentTable {
    const copy = new AttachmentTable(journal);
    for (const record of this.#byId.values()) copy.set(record);
    return copy;
  }

  /** Read-only at run time, too. */
  all(): ReadonlyMap<AttachmentId, AttachmentRecord> {
    return this.#byId.view;
  }

  get(id: AttachmentId): AttachmentRecord | undefined {
    return this.#byId.get(id);
  }

  /** @param pod as `podIdText` */
  ofPod(pod: string): readonly AttachmentRecord[] {
    return this.#byPod.get(pod) ?? [];
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
    if (before) this.#removeOfPod(before);
    this.#byId.set(id, record);
    if (record.adopted?.isIdCut) this.#cut.set(id, record);
    const pod = podIdText(record.pod);
    this.#byPod.set(pod, [...this.ofPod(pod), record]);
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
    const others = this.ofPod(pod).filter((one) => one !== record);
    if (others.length === 0) this.#byPod.delete(pod);
    else this.#byPod.set(pod, others);
  }
}
