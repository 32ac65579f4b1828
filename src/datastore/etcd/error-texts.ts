import { status } from '@grpc/grpc-js';

/**
 * Texts of etcd's errors that a retry would not change, by their gRPC status (`rpctypes/error.go`, 3.3 to 3.6).
 * `etcd grpc-proxy` passes on the text, but always with the status `UNKNOWN`. Errors of users, members and
 * downgrades are missing: no request here causes them.
 */
const texts: ReadonlyMap<number, readonly string[]> = new Map([
  [
    status.INVALID_ARGUMENT,
    [
      'key is not provided',
      'key not found',
      'value is provided',
      'lease is provided',
      'too many operations in txn request',
      'duplicate key given in txn request',
      'invalid client api version',
      'invalid sort option',
      'request is too large',
      'user name is empty',
      'authentication failed, invalid user ID or password',
      'permission not given',
      'revision of auth store is old',
    ],
  ],
  [
    status.OUT_OF_RANGE,
    [
      'mvcc: required revision has been compacted',
      'mvcc: required revision is a future revision',
      'too large lease TTL',
    ],
  ],
  [status.RESOURCE_EXHAUSTED, ['mvcc: database space exceeded', 'too many requests']],
  [status.NOT_FOUND, ['requested lease not found']],
  [status.FAILED_PRECONDITION, ['lease already exists', 'user name not found']],
  [status.PERMISSION_DENIED, ['permission denied']],
  [status.UNAUTHENTICATED, ['invalid auth token']],
  [status.DATA_LOSS, ['corrupt cluster']],
]);

const statusOfText: ReadonlyMap<string, number> = new Map(
  [...texts].flatMap(([code, all]) => all.map((text) => [`etcdserver: ${text}`, code] as const)),
);

/** gRPC status of a text that etcd or its proxy gives as a reason; undefined: none is known. */
export function statusOfReason(reason: string): number | undefined {
  const known = statusOfText.get(reason);
  if (known !== undefined) return known;
  // As the Go client of the proxy writes the end of its own connection: `rpc error: code = Unavailable desc = …`
  const name = /^rpc error: code = (\w+) /.exec(reason)?.[1]?.replace(/\B[A-Z]/g, '_$&');
  const code = name && status[name.toUpperCase() as keyof typeof status];
  return typeof code === 'number' ? code : undefined;
}
