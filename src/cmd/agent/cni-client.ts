import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { CNIReply, CNIRequest, RemoteCNIService } from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import type { DeepInput } from '#models/model.ts';

const requests = messageCodec(CNIRequest);
const replies = messageCodec(CNIReply);

/** Calls the CNI service of an agent over its unix socket, as contiv-cni does. */
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
        (error: ServiceError | null, reply?: CNIReply) => (error ? reject(error) : resolve(reply!)),
      );
    });
  }
}
