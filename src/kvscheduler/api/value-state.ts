/** States of values and names of operations, as status, records and REST show them. */

export type ValueState =
  /** Never there, or deleted. */
  | 'NONEXISTENT'
  /** Was configured; the last look at the southbound did not find it. */
  | 'MISSING'
  /** Wanted by the northbound, but no descriptor owns the key. */
  | 'UNIMPLEMENTED'
  /** Just deleted: seen only within a transaction. */
  | 'REMOVED'
  | 'CONFIGURED'
  /** There, and not ours. */
  | 'OBTAINED'
  /** Found, ours, and not asked for in this run; seen only within a resync. */
  | 'DISCOVERED'
  /** Waits for a dependency, or for a claimed resource. */
  | 'PENDING'
  | 'INVALID'
  /** The last operation failed and is not repeated. */
  | 'FAILED'
  /** The last operation failed and will be repeated. */
  | 'RETRYING';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';
