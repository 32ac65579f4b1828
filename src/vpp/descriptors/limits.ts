/** Lengths and values that VPP gives no choice about. */

/** "No such index", "any", "chosen by VPP", depending on the field. */
export const NONE = 0xffff_ffff;

/** Characters that fit into a tag or label: 64 bytes with the closing zero. */
export const TAG_LENGTH = 63;

/** Characters of a link's name in the kernel. */
export const HOST_NAME_LENGTH = 15;

export function fitsTag(text: string): boolean {
  return Buffer.byteLength(text) <= TAG_LENGTH;
}
