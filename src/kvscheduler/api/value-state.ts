/** States of values and names of operations, as status, records and REST show them. */

export type ValueState =
  /** It never existed, or was deleted. */
  | 'NONEXISTENT'
  /** It was configured, but the last read of the southbound did not find it. */
  | 'MISSING'
  /** It is desired, but no descriptor owns the key. */
  | 'UNIMPLEMENTED'
  /** It was just deleted: seen only within a transaction. */
  | 'REMOVED'
  | 'CONFIGURED'
  /** It exists and is unmanaged. */
  | 'OBTAINED'
  /** It was found, is managed, and is not desired yet; seen only within a resync. */
  | 'DISCOVERED'
  /** It waits for a dependency, or for a claim. */
  | 'PENDING'
  | 'INVALID'
  /** The last operation failed and is not retried. */
  | 'FAILED'
  /** The last operation failed and will be retried. */
  | 'RETRYING';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';
