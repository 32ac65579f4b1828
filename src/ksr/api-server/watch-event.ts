import type { ObjectName } from './api.ts';
import { ApiResponseError, statusError } from './api-errors.ts';

/** An event with the resource version from which a later watch continues. */
export type WatchEvent = { readonly resourceVersion: string } & (
  | { readonly type: 'changed'; readonly object: unknown }
  | { readonly type: 'deleted'; readonly name: ObjectName }
  | { readonly type: 'bookmark' }
);

interface RawEvent {
  readonly type?: unknown;
  readonly object?: {
    readonly metadata?: {
      readonly resourceVersion?: unknown;
      readonly name?: unknown;
      readonly namespace?: unknown;
    };
    readonly code?: unknown;
    readonly message?: unknown;
  };
}

/** @throws CodedError for an ERROR event, and for a line that is not an event */
export function parseEvent(line: string, where: string): WatchEvent {
  const invalid = (text: string, cause?: unknown) =>
    new ApiResponseError(`the watch sent ${text}`, { where, cause });
  let event: RawEvent | null;
  try {
    event = JSON.parse(line);
  } catch (thrown) {
    throw invalid(`a line that is not valid JSON: ${line.slice(0, 100)}`, thrown);
  }
  const type = event?.type;
  const object = event?.object;
  if (type === 'ERROR')
    throw statusError(Number(object?.code ?? 500), String(object?.message ?? ''), where);
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED' && type !== 'BOOKMARK')
    throw invalid(`an event of the unknown type ${JSON.stringify(type) ?? 'undefined'}`);
  const { resourceVersion, name, namespace = '' } = object?.metadata ?? {};
  if (typeof resourceVersion !== 'string' || resourceVersion === '')
    throw invalid(`an event ${type} without metadata.resourceVersion`);
  if (type === 'BOOKMARK') return { type: 'bookmark', resourceVersion };
  if (typeof name !== 'string' || name === '' || typeof namespace !== 'string')
    throw invalid(`an event ${type} without metadata.name`);
  if (type === 'DELETED') return { type: 'deleted', resourceVersion, name: { namespace, name } };
  return { type: 'changed', resourceVersion, object };
}
