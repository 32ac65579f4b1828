import { status } from '@grpc/grpc-js';
import { type CodedError, errorText } from '#infra/errors/errors.ts';
import { StoreRefusedError, StoreUnavailableError } from '../api.ts';

/** Answers after which the same request may succeed, here or at another member. */
const unavailable: ReadonlySet<number> = new Set([
  status.CANCELLED,
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.ABORTED,
  status.INTERNAL,
  status.UNAVAILABLE,
]);

/** gRPC's words for a failure; undefined when gRPC did not make it. */
function statusOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'number' ? thrown.code : undefined;
}

export function isUnavailable(thrown: unknown): boolean {
  const code = statusOf(thrown);
  return code !== undefined && unavailable.has(code);
}

export function isTimeout(thrown: unknown): boolean {
  return statusOf(thrown) === status.DEADLINE_EXCEEDED;
}

/** The history before a revision that was asked for is no longer there. */
export function isCompacted(thrown: unknown): boolean {
  return statusOf(thrown) === status.OUT_OF_RANGE && errorText(thrown).includes('compacted');
}

/** The error that the users of the store see. */
export function storeError(thrown: unknown, where: string, hint = ''): CodedError {
  const made = isUnavailable(thrown) ? StoreUnavailableError : StoreRefusedError;
  return new made(errorText(thrown) + hint, { where, cause: thrown });
}
