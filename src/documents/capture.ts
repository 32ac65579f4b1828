/** A slice of a packet capture. */
import { Type } from 'typebox';
import { count, type DocumentOf, text } from './document.ts';

export const CaptureSlice = Type.Object({
  packets: count('In the file.'),
  isFull: Type.Boolean({
    description: 'Whether VPP stopped at its limit of packets: later ones are missing.',
  }),
  pcap: text('The file in the format of pcap, in base64.'),
});
export type CaptureSlice = DocumentOf<typeof CaptureSlice>;
