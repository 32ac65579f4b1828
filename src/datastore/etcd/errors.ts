import { type ServiceError, status } from '@grpc/grpc-js';
import { type CodedError, errorText } from '#infra/errors/errors.ts';
import { StoreRefusedError, StoreUnavailableError } from '../api.ts';
import { statusOfReason } from './error-texts.ts';

/** Status codes after which the same request may succeed, at this or another member. */
const unavailable: ReadonlySet<number> = new Set([
  status.CANCELLED,
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.ABORTED,
  status.INTERNAL,
  status.UNAVAILABLE,
]);

/** gRPC status code of an error; undefined for other errors. */
function statusOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined;
  if (typeof thrown.code !== 'number') return undefined;
  if (thrown.code !== status.UNKNOWN) return thrown.code;
  return statusOfReason((thrown as ServiceError).details) ?? thrown.code;
}

export function isUnavailable(thrown: unknown): boolean {
  return isUnavailableStatus(statusOf(thrown));
}

/** Whether etcd or its proxy has ended a watch only because it reaches the other members no more. */
export function isUnavailableReason(reason: string): boolean {
  return isUnavailableStatus(statusOfReason(reason));
}

function isUnavailableStatus(code: number | undefined): boolean {
  return code !== undefined && unavailable.has(code);
}

export function isTimeout(thrown: unknown): boolean {
  return statusOf(thrown) === status.DEADLINE_EXCEEDED;
}

/** Whether the user has no right to the key; etcd decides that only after it has reached a majority. */
export function isForbidden(thrown: unknown): boolean {
  return statusOf(thrown) === status.PERMISSION_DENIED;
}

/** Whether the requested revision is compacted. */
export function isCompacted(thrown: unknown): boolean {
  return statusOf(thrown) === status.OUT_OF_RANGE && errorText(thrown).includes('compacted');
}

/** Converts an error to one of the store contract. */
export function storeError(thrown: unknown, where: string, hint = ''): CodedError {
  const ErrorClass = isUnavailable(thrown) ? StoreUnavailableError : StoreRefusedError;
  return new ErrorClass(errorText(thrown) + hint, { where, cause: thrown });
}
