/** The transaction of one event: handlers replace groups of values in it, the event loop commits it once. */
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { KeyValue } from './key-value.ts';

export interface ReplaceOptions {
  /**
   * The values may stay pending, in a `RevertOnFailure` event, too: they are created when their dependencies
   * are met. Default: false.
   */
  readonly optional?: boolean;
  /**
   * Puts unchanged values, too: they are read from the southbound, and configured again if they were changed past
   * the agent. Only then does the result of the event show whether they are configured. Default: false.
   */
  readonly evenUnchanged?: boolean;
}

export interface Transaction {
  /**
   * Sets all values of a group. The event loop keeps the groups of all handlers and commits what differs from
   * before; a group without values does not exist. A resync begins without groups.
   *
   * If several groups set a key, the value of the handler that comes last in the order of the handlers applies,
   * and within a handler that of the group whose name sorts last. When that group no longer sets the key,
   * the value of the other one applies again.
   * @param group its name within the handler, for example `pod/<id>`
   */
  replace(group: string, values: Iterable<KeyValue>, options?: ReplaceOptions): void;
  /** The desired value of a key, of any handler, with what this event has changed so far. */
  get<V extends Value = Value>(key: string): V | undefined;
}
