import type { Journal } from '#plugins/controller/api/journal.ts';
import { Table } from '#plugins/controller/api/table.ts';
import { type Attachment, type AttachmentId, attachmentId } from '#plugins/podmanager/api.ts';
import type { PodInterfaceNames } from './api.ts';
import { podLinkNames } from './names.ts';
import type { NodeInput } from './node-input.ts';

/** The wired attachments and their interface names. */
export class PodLinks {
  readonly #names: Table<AttachmentId, PodInterfaceNames>;
  readonly #byInterface: Table<string, Attachment>;

  constructor(journal: Journal) {
    this.#names = new Table(journal);
    this.#byInterface = new Table(journal);
  }

  set(input: NodeInput, attachment: Attachment): PodInterfaceNames {
    const { vpp, linux, loopback } = podLinkNames(attachment, input.interfaces.useTap);
    const names = { vpp, linux, loopback };
    this.#names.set(attachmentId(attachment), names);
    this.#byInterface.set(vpp, attachment);
    return names;
  }

  delete(id: AttachmentId): void {
    const names = this.#names.get(id);
    if (names) this.#byInterface.delete(names.vpp);
    this.#names.delete(id);
  }

  /**
   * Another attachment with one of the names of this one: they lack the end of the container ID. Its values
   * would be replaced.
   */
  withSameNames(input: NodeInput, attachment: Attachment): Attachment | undefined {
    const own = attachmentId(attachment);
    const { vpp, linux, loopback } = podLinkNames(attachment, input.interfaces.useTap);
    for (const [id, names] of this.#names) {
      if (id === own) continue;
      const isShared = names.vpp === vpp || names.linux === linux;
      if (!isShared && names.loopback !== loopback) continue;
      const other = this.#byInterface.get(names.vpp);
      // the interfaces of one container have one loopback
      if (other && (isShared || !isSameContainer(other, attachment))) return other;
    }
    return undefined;
  }

  names(id: AttachmentId): PodInterfaceNames | undefined {
    return this.#names.get(id);
  }

  /** The attachment of a VPP interface. */
  behind(vppInterface: string): Attachment | undefined {
    return this.#byInterface.get(vppInterface);
  }

  /** Sorted by attachment. */
  entries(): [AttachmentId, PodInterfaceNames][] {
    return [...this.#names].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

function isSameContainer(a: Attachment, b: Attachment): boolean {
  return a.containerId === b.containerId || isCutOf(a, b) || isCutOf(b, a);
}

function isCutOf(cut: Attachment, whole: Attachment): boolean {
  return cut.adopted?.isIdCut === true && whole.containerId.startsWith(cut.containerId);
}
