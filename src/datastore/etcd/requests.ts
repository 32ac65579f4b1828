import type { IRequestOp } from 'etcd3';

/** A request of a transaction; `undefined` deletes the key. */
export function requestOf(key: string, value: string | undefined): IRequestOp {
  const bytes = Buffer.from(key);
  return value === undefined
    ? { request_delete_range: { key: bytes } }
    : { request_put: { key: bytes, value: Buffer.from(value) } };
}
