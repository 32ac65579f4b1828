import type { Value } from '#kvscheduler/api/transaction.ts';

/** The values of external configuration by key; of those of several sources that which precedes. */
export interface ExternalValues {
  get(key: string): Value | undefined;
  keys(): Iterable<string>;
}

/**
 * The desired values of the event handlers, before external configuration is merged over them. They belong to
 * groups; the name of a group is that of its handler, a slash, and its name within the handler.
 */
export interface DesiredValues {
  /** The value of a key; undefined: no group sets it. */
  value(key: string): Value | undefined;
  /** The values of the keys that a group sets; empty if there is no such group. */
  group(name: string): ReadonlyMap<string, Value>;
  /** The groups that set a key; the value of the last one applies. */
  owners(key: string): readonly string[];
  /** With the change of the event that is being handled. */
  readonly external: ExternalValues;
}
