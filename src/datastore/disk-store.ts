/** A store on a disk of this node: what it has lost, and whether it can be used. */
import { type CodedError, defineError } from '#infra/errors/errors.ts';

/**
 * Why entries of earlier runs may be missing. `new`: there was no database, for example because this is
 * the first start, or because the folder of all state was deleted. `lost`: the database was deleted or
 * emptied. `older`: an older copy, or the last writes are missing. `replaced`: the database of another
 * node. `damaged`: entries could not be read.
 */
export type StoreHistory = 'new' | 'lost' | 'older' | 'replaced' | 'damaged';

export interface StoreLoss {
  readonly history: StoreHistory;
  /** One sentence part for logs and status, with the numbers. */
  readonly detail: string;
}

export interface DiskStore {
  /** Folder of the database. */
  readonly folder: string;
  /**
   * Entries that are missing from the content. It is stored in the database, so that it is still
   * set after a crash and a restart, until `resolveLoss`. undefined: every write that any run has
   * acknowledged is there.
   */
  readonly loss: StoreLoss | undefined;
  /** The missing entries were recovered, or there are none: `loss` is undefined from now on. */
  resolveLoss(): Promise<void>;
  /** Why the store cannot be used; undefined while it can. */
  readonly fault: CodedError | undefined;
  /** The listener is called when `fault` changes. */
  onFault(listener: () => void): void;
  /** Writes something small; resolves when the disk can be written. */
  tryWrite(): Promise<void>;
}

/** As for StoreUnavailableError, the outcome of a write is unknown. */
export const LocalStoreUnavailableError = defineError({
  name: 'LocalStoreUnavailableError',
  code: 'CV_LOCAL_STORE_UNAVAILABLE',
  isRetriable: true,
  remedy:
    'Check the disk of the folder: free space, errors of the file system, permission. The agent continues by itself when it can write there again.',
});

export const LocalStoreLostError = defineError({
  name: 'LocalStoreLostError',
  code: 'CV_LOCAL_STORE_LOST',
  remedy:
    'Check the disk of the folder for errors, then restart the agent: it recovers the missing entries from VPP, Linux and etcd.',
});
