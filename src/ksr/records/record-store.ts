import type { KvEntry, KvStore, Revision } from '#datastore/api.ts';

/** Read access to the datastore. The reflector writes only as the leader, see `Leadership`. */
export interface RecordStore extends Pick<KvStore, 'get' | 'watch'> {
  /** Lists a prefix in pages, all at one revision, from which a watch may begin. */
  pages(prefix: string, onPage: (entries: readonly KvEntry[]) => void): Promise<Revision>;
}
