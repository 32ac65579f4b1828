/** Lengths and special values that VPP prescribes. */

/** Depending on the field: no index, any, or chosen by VPP. */
export const NONE = 0xffff_ffff;

/** Bytes of a tag or label: 64 with the terminating zero. */
export const TAG_LENGTH = 63;

/** Maximum length of a link's name in the kernel. */
export const HOST_NAME_LENGTH = 15;

export function fitsTag(text: string): boolean {
  return Buffer.byteLength(text) <= TAG_LENGTH;
}
