/** A fake STN daemon on a unix socket that has stolen the given NICs. */
import { type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js';
import { messageCodec } from '#models/message.ts';
import type { DeepInput } from '#models/model.ts';
import { STNReply, STNRequest, STNService } from '#models/stn/stn.gen.ts';

const requests = messageCodec(STNRequest);
const replies = messageCodec(STNReply);

export class FakeStnDaemon {
  /** By name; the first one also answers to no name. */
  readonly taken = new Map<string, DeepInput<STNReply>>();
  readonly #server = new Server();

  static async start(socketPath: string): Promise<FakeStnDaemon> {
    const daemon = new FakeStnDaemon();
    await new Promise<void>((resolve, reject) => {
      const insecure = ServerCredentials.createInsecure();
      daemon.#server.bindAsync(`unix:${socketPath}`, insecure, (error) =>
        error ? reject(error) : resolve(),
      );
    });
    return daemon;
  }

  private constructor() {
    const { path } = STNService.StolenInterfaceInfo;
    const info: handleUnaryCall<STNRequest, STNReply> = ({ request }, callback) => {
      const name = request.interface_name || ([...this.taken.keys()][0] ?? '');
      const found = this.taken.get(name) ?? { result: 1, error: `${name} was not taken` };
      callback(null, replies.canonical(found));
    };
    this.#server.addService(
      {
        StolenInterfaceInfo: {
          path,
          requestStream: false,
          responseStream: false,
          requestSerialize: (value: STNRequest) => Buffer.from(requests.encodeWire(value)),
          requestDeserialize: (bytes: Buffer) => requests.decodeWire(bytes, path),
          responseSerialize: (value: STNReply) => Buffer.from(replies.encodeWire(value)),
          responseDeserialize: (bytes: Buffer) => replies.decodeWire(bytes, path),
        },
      },
      { StolenInterfaceInfo: info },
    );
  }

  close(): void {
    this.#server.forceShutdown();
  }
}
