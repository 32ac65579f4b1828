import type { IKeyValue, IResponseHeader, KVClient } from 'etcd3';
import type { Revision } from '../api.ts';
import { isCompacted } from './errors.ts';

/** A point in the history of one prefix. */
export interface Position {
  readonly epoch: number;
  /** Everything up to this revision was seen … */
  readonly revision: number;
  /** … and of the next one so many changes, for a transaction may change several keys. */
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
 * Knows whether the database is still the one it was. A wiped database may come back with the same
 * cluster id and, if it is written to, with higher revisions than before; so a key that was seen
 * last is remembered with its revision, and must stand in the history of a database that wants to
 * be the same.
 */
export class DatabaseIdentity {
  /** Counts the databases that were seen; positions of another epoch mean nothing. */
  epoch = 0;
  /** The highest revision that an answer carried. */
  highest = 0;
  #cluster: string | undefined;
  #anchor: { readonly key: Buffer; readonly revision: number } | undefined;

  /**
   * Takes note of an answer to a linearizable request.
   * @param before what `highest` was when the request was sent
   */
  observe(before: number, header: IResponseHeader): void {
    const revision = Number(header.revision);
    const sameCluster = this.#cluster === undefined || this.#cluster === header.cluster_id;
    this.#cluster = header.cluster_id;
    if (sameCluster && revision >= before) this.highest = Math.max(this.highest, revision);
    else this.#begin(revision);
  }

  /** Takes note of a key that was written at a revision. */
  remember(key: Buffer, revision: number): void {
    this.highest = Math.max(this.highest, revision);
    if (revision >= (this.#anchor?.revision ?? 0)) this.#anchor = { key, revision };
  }

  /**
   * Asks the database for what it must know. After this `epoch` tells whether it is the same; one
   * that cannot tell, because its history was compacted, is taken for another.
   */
  async verify(kv: KVClient): Promise<void> {
    const before = this.highest;
    const anchor = this.#anchor;
    const epoch = this.epoch;
    const now = await kv.range({ key: anchor?.key ?? Buffer.from([0]) });
    this.observe(before, now.header);
    if (!anchor || this.epoch !== epoch || writtenAt(now.kvs, anchor.revision)) return;
    try {
      const { revision } = anchor;
      const then = await kv.range({ key: anchor.key, revision });
      if (this.epoch !== epoch || writtenAt(then.kvs, revision)) return;
    } catch (thrown) {
      if (!isCompacted(thrown)) throw thrown;
    }
    this.#begin(Number(now.header.revision));
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
