import type { ServerHandlers } from '#vpp/binapi/server.ts';

/**
 * The messages of one concern. To make the simulated VPP speak one more, add an entry to the part
 * that it belongs to; a new concern is a new file with a part, named in life.ts.
 */
export interface MessageHandlers {
  readonly requests?: ServerHandlers['requests'];
  readonly dumps?: ServerHandlers['dumps'];
  /** What of it is configuration: goes into the snapshot. Sorted. */
  readonly snapshot?: () => Readonly<Record<string, unknown>>;
}
