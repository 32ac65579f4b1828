/**
 * Which TAPs of VPP have no link in the kernel any more. VPP does not notice that the link is deleted: it
 * keeps and reports a TAP that transfers nothing. The read-back of Linux records which links it found; the
 * read-back of VPP asks afterwards.
 */
export interface FoundTapLinks {
  /** TAPs of VPP whose links are desired. Others may be anywhere. */
  readonly desired: readonly string[];
  /** TAPs of VPP whose links have a mark, in any namespace. */
  readonly marked: readonly string[];
  /** Names of all links in the agent's namespace, where VPP creates them. */
  readonly own: readonly string[];
}

export class LostTapLinks {
  readonly #byReadBack = new WeakMap<object, (tap: string, hostIfName: string) => boolean>();

  record(readBack: object, { desired, marked, own }: FoundTapLinks): void {
    const present = new Set(marked);
    const lost = new Set(desired.filter((tap) => !present.has(tap)));
    const links = new Set(own);
    this.#byReadBack.set(readBack, (tap, hostIfName) => lost.has(tap) && !links.has(hostIfName));
  }

  /**
   * @param hostIfName VPP's name for the link
   * @returns false if the links were not read in this read-back
   */
  has(readBack: object, tap: string, hostIfName: string): boolean {
    return this.#byReadBack.get(readBack)?.(tap, hostIfName) ?? false;
  }
}
