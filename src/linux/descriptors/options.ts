import type { Logger } from '#infra/log/log.ts';
import type { LinuxHost } from '../api.ts';
import type { LostTapLinks } from './interface/lost-tap-links.ts';
import type { LinkMarks } from './link-marks.ts';
import type { NamespaceDumps } from './namespaces.ts';

/** Dependencies of all Linux descriptors. */
export interface LinuxDescriptorOptions {
  readonly host: LinuxHost;
  readonly log: Logger;
  readonly marks: LinkMarks;
  readonly dumps: NamespaceDumps;
  readonly lostTapLinks: LostTapLinks;
}
