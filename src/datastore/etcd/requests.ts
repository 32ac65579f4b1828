import type { IRequestOp, IResponseHeader, KVClient } from 'etcd3';
import { isForbidden } from './errors.ts';

export interface EtcdResponse {
  readonly header: IResponseHeader;
}

/** The present revision, from a majority of the members, for a user without any right, too. */
export async function latest(kv: KVClient): Promise<EtcdResponse> {
  try {
    return await kv.range({ key: Buffer.from('/probe-etcd-connection') });
  } catch (thrown) {
    if (!isForbidden(thrown)) throw thrown;
  }
  // The refused member has the newest state; an empty transaction needs no right, but no majority either.
  return await kv.txn({});
}

/** A request of a transaction; `undefined` deletes the key. */
export function requestOf(key: string, value: string | undefined): IRequestOp {
  const bytes = Buffer.from(key);
  return value === undefined
    ? { request_delete_range: { key: bytes } }
    : { request_put: { key: bytes, value: Buffer.from(value) } };
}
