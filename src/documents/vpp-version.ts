/** The release of VPP. */
import { Type } from 'typebox';
import { text } from './document.ts';

export const VppVersion = Type.Object({
  program: Type.String(),
  version: text('As VPP names it, such as 26.06-release.'),
  buildDate: text('As VPP names it; empty: unknown.'),
});
