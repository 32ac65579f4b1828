/** Errors of the Kafka library as errors of the agent. */
import { findErrorBy, ProtocolError } from '@platformatic/kafka';
import { type CodedError, errorText } from '../errors/errors.ts';
import { MessagingUnavailableError, PublishError } from './api.ts';

/** The library's errors for a message or batch that a broker does not store because of its size. */
const tooLarge = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'];
const MAX_TEXT = 500;

export function isTooLarge(thrown: unknown): boolean {
  return thrown instanceof Error && tooLarge.some((id) => findErrorBy(thrown, 'apiId', id));
}

/** `PublishError` if a broker has rejected the request permanently, `MessagingUnavailableError` for all else. */
export function messagingError(thrown: unknown, where?: string): CodedError {
  const details = { where, cause: thrown };
  const final = thrown instanceof Error ? findErrorBy(thrown, 'canRetry', false) : null;
  return final?.code === ProtocolError.code
    ? new PublishError(reasonOf(thrown), details)
    : new MessagingUnavailableError(reasonOf(thrown), details);
}

/** The innermost texts of an error, which the library wraps several times, each once. */
export function reasonOf(thrown: unknown): string {
  const texts = new Set<string>();
  const collect = (one: unknown, depth: number): void => {
    if (depth > 8) return;
    const inner = [
      ...(one instanceof AggregateError ? one.errors : []),
      ...(one instanceof Error && one.cause !== undefined ? [one.cause] : []),
    ];
    for (const each of inner) collect(each, depth + 1);
    if (inner.length === 0) texts.add(errorText(one));
  };
  collect(thrown, 0);
  return [...texts].join('; ').slice(0, MAX_TEXT);
}
