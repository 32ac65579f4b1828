import type { IKeyValue, IResponseHeader, KVClient } from 'etcd3';
import type { Revision } from '../api.ts';
import { isCompacted } from './errors.ts';
import { type EtcdResponse, latest } from './requests.ts';

/** A point in the history of one prefix. */
export interface Position {
  readonly epoch: number;
  /** The last revision whose changes are all delivered. */
  readonly revision: number;
  /** Delivered changes of the next revision: a transaction may change several keys. */
  readonly partial: number;
}

export function tokenOf({ epoch, revision, partial }: Position): Revision {
  return `${epoch}:${revision}:${partial}` as Revision;
}

export function positionOf(token: Revision): Position {
  const [epoch = Number.NaN, revision = Number.NaN, partial = Number.NaN] = token
    .split(':')
    .map(Number);
  return { epoch, revision, partial };
}

/**
 * Detects whether the database was replaced. A wiped database may return with the same cluster ID
 * and, after writes, with higher revisions than before. So the last key seen is remembered with its
 * revision (the anchor), and the history of the same database must contain it.
 */
export class DatabaseIdentity {
  /** Number of databases seen so far; positions of another epoch are invalid. */
  epoch = 0;
  /** The highest revision of any reply. */
  highest = 0;
  #cluster: string | undefined;
  #anchor: { readonly key: Buffer; readonly revision: number } | undefined;

  /**
   * Processes the header of a reply to a linearizable request.
   * @param before value of `highest` when the request was sent
   */
  observe(before: number, header: IResponseHeader): void {
    const revision = Number(header.revision);
    const sameCluster = this.#cluster === undefined || this.#cluster === header.cluster_id;
    this.#cluster = header.cluster_id;
    if (sameCluster && revision >= before) this.highest = Math.max(this.highest, revision);
    else this.#begin(revision);
  }

  /** Records a key that was written at a revision. */
  remember(key: Buffer, revision: number): void {
    this.highest = Math.max(this.highest, revision);
    if (revision >= (this.#anchor?.revision ?? 0)) this.#anchor = { key, revision };
  }

  /**
   * Reads the anchor from the database; afterwards `epoch` shows whether the database is the same. A
   * database whose history is compacted beyond the anchor counts as another one.
   * @returns a present reply
   */
  async verify(kv: KVClient): Promise<EtcdResponse> {
    const before = this.highest;
    const anchor = this.#anchor;
    const epoch = this.epoch;
    if (!anchor) {
      const now = await latest(kv);
      this.observe(before, now.header);
      return now;
    }
    const now = await kv.range({ key: anchor.key });
    this.observe(before, now.header);
    if (this.epoch !== epoch || writtenAt(now.kvs, anchor.revision)) return now;
    try {
      const { revision } = anchor;
      const then = await kv.range({ key: anchor.key, revision });
      if (this.epoch !== epoch || writtenAt(then.kvs, revision)) return now;
    } catch (thrown) {
      if (!isCompacted(thrown)) throw thrown;
    }
    this.#begin(Number(now.header.revision));
    return now;
  }

  #begin(revision: number): void {
    this.epoch++;
    this.highest = revision;
    this.#anchor = undefined;
  }
}

function writtenAt(kvs: readonly IKeyValue[], revision: number): boolean {
  return kvs[0] !== undefined && Number(kvs[0].mod_revision) === revision;
}
