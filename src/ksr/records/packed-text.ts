/** Texts in less memory. First version: as they are. */
export type PackedText = string;

export function packed(text: string): PackedText {
  return text;
}

export function unpacked(text: PackedText): string {
  return text;
}
