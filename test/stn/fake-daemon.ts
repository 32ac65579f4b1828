/** A fake STN daemon on a unix socket. It takes the NICs that it has, and gives them back. */
import { type handleUnaryCall, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { messageCodec } from '#models/message.ts';
import { methodDefinition } from '#models/method-definition.ts';
import type { DeepInput } from '#models/model.ts';
import { STNReply, type STNRequest, STNService } from '#models/stn/stn.gen.ts';

const replies = messageCodec(STNReply);

/** How it refuses: in its reply, or like a daemon in Go, whose gRPC call fails. */
export type Refusal = 'reply' | 'status';

export class FakeStnDaemon {
  /** NICs that it has not taken. */
  readonly host = new Map<string, DeepInput<STNReply>>();
  /** By name; the first one also answers to no name. */
  readonly taken = new Map<string, DeepInput<STNReply>>();
  /** Requests that change something: `steal eth1`, `steal eth1 dhcp`, `release eth1`. */
  readonly requests: string[] = [];
  /** NICs whose driver waits for VPP. */
  readonly givingBack = new Set<string>();
  /** Called when a NIC is taken or given back, before the answer. */
  onMove: (name: string, isTaken: boolean) => Promise<void> = async () => undefined;
  readonly #server = new Server();
  readonly #refusal: Refusal;

  static async start(socketPath: string, refusal: Refusal = 'reply'): Promise<FakeStnDaemon> {
    const daemon = new FakeStnDaemon(refusal);
    await new Promise<void>((resolve, reject) => {
      const insecure = ServerCredentials.createInsecure();
      daemon.#server.bindAsync(`unix:${socketPath}`, insecure, (error) =>
        error ? reject(error) : resolve(),
      );
    });
    return daemon;
  }

  private constructor(refusal: Refusal) {
    this.#refusal = refusal;
    this.#server.addService(
      {
        StolenInterfaceInfo: methodDefinition(STNService.StolenInterfaceInfo),
        StealInterface: methodDefinition(STNService.StealInterface),
        ReleaseInterface: methodDefinition(STNService.ReleaseInterface),
      },
      {
        StolenInterfaceInfo: this.#answer(({ interface_name }) =>
          this.taken.get(interface_name || ([...this.taken.keys()][0] ?? '')),
        ),
        StealInterface: this.#answer(async ({ interface_name, dhcp_enabled }) => {
          this.requests.push(`steal ${interface_name}${dhcp_enabled ? ' dhcp' : ''}`);
          const moved = await this.#move(interface_name, this.host, this.taken);
          return moved ?? this.taken.get(interface_name);
        }),
        ReleaseInterface: this.#answer(({ interface_name }) => {
          this.requests.push(`release ${interface_name}`);
          return this.giveBack(interface_name);
        }),
      },
    );
  }

  close(): void {
    this.#server.forceShutdown();
  }

  /** Also without a request, as when the vswitch does not come up. */
  giveBack(name: string): Promise<DeepInput<STNReply> | undefined> {
    return this.#move(name, this.taken, this.host);
  }

  async #move(
    name: string,
    from: Map<string, DeepInput<STNReply>>,
    to: Map<string, DeepInput<STNReply>>,
  ): Promise<DeepInput<STNReply> | undefined> {
    const nic = from.get(name);
    if (!nic) return undefined;
    from.delete(name);
    to.set(name, nic);
    await this.onMove(name, to === this.taken);
    return nic;
  }

  #answer(
    find: (
      request: STNRequest,
    ) => DeepInput<STNReply> | undefined | Promise<DeepInput<STNReply> | undefined>,
  ): handleUnaryCall<STNRequest, STNReply> {
    return async ({ request }, callback) => {
      const found = await find(request);
      const error = `${request.interface_name} was not taken`;
      if (found) callback(null, replies.canonical(found));
      else if (this.givingBack.has(request.interface_name))
        callback({ code: status.ABORTED, details: 'the NIC is being given back' });
      else if (this.#refusal === 'reply') callback(null, replies.canonical({ result: 1, error }));
      else callback({ code: status.UNKNOWN, details: error });
    };
  }
}
