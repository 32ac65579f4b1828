/** A client of the services for external configuration. */
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { messageCodec } from '#models/message.ts';
import type { DeepInput } from '#models/model.ts';
import {
  DataChangeServiceService,
  DataRequest,
  DataResyncServiceService,
} from '#models/rpc/rpc.gen.ts';
import { BadRequest, Status } from '#models/rpc/status.gen.ts';

const requests = messageCodec(DataRequest);
const statuses = messageCodec(Status);
const badRequests = messageCodec(BadRequest);

export type Items = DeepInput<DataRequest>;

export interface Answer {
  /** 0: success. */
  readonly code: number;
  readonly text: string;
  /** Of the details. */
  readonly violations: readonly { field: string; description: string; reason: string }[];
}

const paths = {
  put: DataChangeServiceService.Put.path,
  del: DataChangeServiceService.Del.path,
  resync: DataResyncServiceService.Resync.path,
} as const;

export type Method = keyof typeof paths;

/** With the texts of secrets, which `encodeWire` masks. */
export function requestBytes(items: Items): Buffer {
  const type = DataRequest.reflection();
  const stored = requests.toStored(requests.canonical(items)) as object;
  return Buffer.from(type.encode(type.fromObject(stored)).finish());
}

export class ExternalClient implements Disposable {
  readonly #client: Client;

  /** @param channel credentials; default: without TLS */
  constructor(target: string | number, channel = credentials.createInsecure()) {
    const address = typeof target === 'number' ? `127.0.0.1:${target}` : target;
    this.#client = new Client(address, channel, { 'grpc.max_receive_message_length': -1 });
  }

  put(items: Items, signal?: AbortSignal): Promise<Answer> {
    return this.send('put', requestBytes(items), signal);
  }

  del(items: Items): Promise<Answer> {
    return this.send('del', requestBytes(items));
  }

  resync(items: Items): Promise<Answer> {
    return this.send('resync', requestBytes(items));
  }

  /** @param signal cancels the call */
  send(method: Method, request: Buffer, signal?: AbortSignal): Promise<Answer> {
    return new Promise((resolve) => {
      const call = this.#client.makeUnaryRequest(
        paths[method],
        (bytes: Buffer) => bytes,
        (bytes) => bytes,
        request,
        (error) => resolve(answerOf(error)),
      );
      signal?.addEventListener('abort', () => call.cancel(), { once: true });
    });
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

function answerOf(error: ServiceError | null): Answer {
  if (!error) return { code: 0, text: '', violations: [] };
  const [bytes] = error.metadata.get('grpc-status-details-bin');
  const details = bytes === undefined ? [] : statuses.decodeWire(bytes as Buffer).details;
  const violations = details.flatMap(
    ({ value }) => badRequests.decodeWire(Buffer.from(value, 'base64')).field_violations,
  );
  return { code: error.code, text: error.details, violations };
}
