/**
 * Which TAPs of VPP have no link in the kernel any more. VPP does not notice that the link is deleted: it
 * keeps and reports a TAP that transfers nothing. The read-back of Linux records which links it found; the
 * read-back of VPP asks afterwards.
 */
import type { LinkLocation, NamespacePath } from '../../api.ts';

export interface FoundTapLinks {
  /** TAPs of VPP whose links are desired. Others may be anywhere. */
  readonly desired: readonly string[];
  /** TAPs of VPP whose links have a mark, in any namespace. */
  readonly marked: readonly string[];
  /** Names of all links in the namespaces that were read: that of the agent, and those of the desired links. */
  readonly names: ReadonlyMap<NamespacePath, ReadonlySet<string>>;
}

export class LostTapLinks {
  readonly #byReadBack = new WeakMap<object, (tap: string, made: LinkLocation) => boolean>();

  record(readBack: object, { desired, marked, names }: FoundTapLinks): void {
    const present = new Set(marked);
    const lost = new Set(desired.filter((tap) => !present.has(tap)));
    const isThere = ({ namespace, name }: LinkLocation) => names.get(namespace)?.has(name) ?? false;
    this.#byReadBack.set(readBack, (tap, made) => lost.has(tap) && !isThere(made));
  }

  /**
   * @param made where VPP made the link
   * @returns false if the links were not read in this read-back
   */
  has(readBack: object, tap: string, made: LinkLocation): boolean {
    return this.#byReadBack.get(readBack)?.(tap, made) ?? false;
  }
}
