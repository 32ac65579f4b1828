import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { CNIReply, CNIRequest, RemoteCNIService } from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import type { DeepInput } from '#models/model.ts';
import { FAILED_REPLY_TRAILER } from '#plugins/podmanager/api.ts';

const requests = messageCodec(CNIRequest);
const replies = messageCodec(CNIReply);

/** Calls the CNI service of an agent over its unix socket. A request that failed has a reply, too. */
export class CniClient {
  readonly #client: Client;

  constructor(socketPath: string) {
    this.#client = new Client(`unix:${socketPath}`, credentials.createInsecure());
  }

  add(request: DeepInput<CNIRequest>): Promise<CNIReply> {
    return this.#call(RemoteCNIService.Add.path, request);
  }

  delete(request: DeepInput<CNIRequest>): Promise<CNIReply> {
    return this.#call(RemoteCNIService.Delete.path, request);
  }

  close(): void {
    this.#client.close();
  }

  #call(path: string, request: DeepInput<CNIRequest>): Promise<CNIReply> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        path,
        (value: CNIRequest) => Buffer.from(requests.encodeWire(value)),
        (bytes: Buffer) => replies.decodeWire(bytes, path),
        requests.canonical(request),
        (error: ServiceError | null, reply?: CNIReply) => {
          const [failed] = error?.metadata.get(FAILED_REPLY_TRAILER) ?? [];
          if (Buffer.isBuffer(failed)) resolve(replies.decodeWire(failed, path));
          else if (error) reject(error);
          else resolve(reply!);
        },
      );
    });
  }
}

/** Address of the pod in the reply to an ADD, without prefix length; undefined for none. */
export function addressIn(reply: CNIReply): string | undefined {
  return addressesIn(reply)[0];
}

/** All addresses in a reply, without prefix length. */
export function addressesIn(reply: CNIReply): readonly string[] {
  return reply.interfaces
    .flatMap(({ ip_addresses }) => ip_addresses)
    .map(({ address }) => address.split('/')[0]!);
}
