/**
 * The error status of a request with items that were not applied: a text for people, and the standard
 * details of gRPC (`google.rpc.BadRequest`) with one entry for each item. Clients of the original see an
 * error with the text.
 */
import { Metadata, type ServerErrorResponse, status } from '@grpc/grpc-js';
import { CodedError, errorText } from '#infra/errors/errors.ts';
import { messageCodec } from '#models/message.ts';
import { InvalidModelError } from '#models/model.ts';
import { BadRequest, Status } from '#models/rpc/status.gen.ts';
import { ConfigNotAppliedError, ConfigNotStoredError } from './config-writer.ts';

/** An item that was refused, or that was stored and could not be configured. */
export interface ItemError {
  /** `StaticRoutes[3]` */
  readonly name: string;
  readonly key: string | undefined;
  readonly error: Error;
}

export const STATUS_DETAILS_TRAILER = 'grpc-status-details-bin';

/** Node.js sends at most 64 KiB of trailers. A character of the text may become 12 bytes, 3 bytes of details 4. */
const MAX_TEXT = 3_000;
const MAX_DETAILS = 12_000;
const MAX_DESCRIPTION = 500;

const badRequests = messageCodec(BadRequest);
const statuses = messageCodec(Status);

interface Answer {
  readonly code: status;
  readonly text: string;
  readonly items: readonly ItemError[];
}

/**
 * @param total number of items of the request
 * @param note what the client has to know besides
 */
export function itemErrorStatus(
  refused: readonly ItemError[],
  failed: readonly ItemError[],
  total: number,
  note = '',
): ServerErrorResponse {
  const parts = [
    ...(refused.length > 0 ? [`${refused.length} of ${total} items refused${note}`] : []),
    ...(failed.length > 0
      ? [
          `${failed.length} of ${total} items stored, but not configured: the agent tries them again`,
        ]
      : []),
  ];
  const items = [...refused, ...failed];
  // The agent of Contiv/VPP answers UNKNOWN to every failure.
  const code = failed.length === 0 ? status.INVALID_ARGUMENT : status.UNKNOWN;
  return serverError({ code, text: `${parts.join('; ')}: ${listed(items)}`, items });
}

/** The status of a request that failed as a whole. */
export function requestErrorStatus(error: unknown): ServerErrorResponse {
  const text = errorText(error);
  if (error instanceof InvalidModelError)
    return serverError({ code: status.INVALID_ARGUMENT, text, items: [] });
  if (error instanceof ConfigNotStoredError || error instanceof ConfigNotAppliedError)
    return serverError({ code: status.UNAVAILABLE, text, items: [] });
  const stored = `the items are stored, but their event failed: ${text}`;
  return serverError({ code: status.UNKNOWN, text: stored, items: [] });
}

function serverError({ code, text, items }: Answer): ServerErrorResponse {
  const details = text.slice(0, MAX_TEXT);
  const metadata = new Metadata();
  if (items.length > 0) metadata.set(STATUS_DETAILS_TRAILER, statusDetails(code, details, items));
  return { name: 'ExternalConfigError', message: details, code, details, metadata };
}

function listed(items: readonly ItemError[]): string {
  const texts: string[] = [];
  let length = 0;
  for (const item of items) {
    const text = `${item.name}${item.key === undefined ? '' : ` (${item.key})`}: ${reasonOf(item)}`;
    length += text.length;
    if (length > MAX_TEXT / 2)
      return [...texts, `and ${items.length - texts.length} more`].join('; ');
    texts.push(text);
  }
  return texts.join('; ');
}

/** As many items as fit; the text has the number of all. */
function statusDetails(code: status, message: string, items: readonly ItemError[]): Buffer {
  const violations: BadRequest['field_violations'][number][] = [];
  let bytes = 0;
  for (const item of items) {
    const { name, key, error } = item;
    const violation = {
      field: name,
      description: `${key === undefined ? '' : `${key}: `}${reasonOf(item)}`.slice(
        0,
        MAX_DESCRIPTION,
      ),
      reason: error instanceof CodedError ? error.code : '',
    };
    bytes += Buffer.byteLength(JSON.stringify(violation));
    if (bytes > MAX_DETAILS - MAX_TEXT) break;
    violations.push(violation);
  }
  const value = Buffer.from(
    badRequests.encodeWire(badRequests.canonical({ field_violations: violations })),
  ).toString('base64');
  const detail = { type_url: `type.googleapis.com/${BadRequest.typeName}`, value };
  return Buffer.from(statuses.encodeWire(statuses.canonical({ code, message, details: [detail] })));
}

/** Without the name or key with which the text begins: errors of the scheduler have the key twice. */
function reasonOf({ name, key, error }: ItemError): string {
  let text = errorText(error);
  for (const known of [name, key, key])
    if (text.startsWith(`${known}: `)) text = text.slice(`${known}: `.length);
  return text;
}
