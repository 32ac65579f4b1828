import type { ServerHandlers } from '#vpp/binapi/server.ts';

/**
 * The handlers of the messages of one feature. To simulate another message, add its handler to the
 * group of its feature; a new feature is a new file with a group, listed in vpp-process.ts.
 */
export interface MessageHandlers {
  readonly requests?: ServerHandlers['requests'];
  readonly dumps?: ServerHandlers['dumps'];
  /** The configuration of the feature for the snapshot of the simulation; lists are sorted. */
  readonly snapshot?: () => Readonly<Record<string, unknown>>;
}
