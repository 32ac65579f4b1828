/** Client of the host's STN daemon, over its unix socket. */
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import type { Clock } from '#infra/clock/clock.ts';
import { messageCodec } from '#models/message.ts';
import type { DeepInput } from '#models/model.ts';
import { STNReply, STNRequest, STNService } from '#models/stn/stn.gen.ts';
import type { StnPort, StolenInterface } from '#plugins/controller/api/ports/stn.ts';
import { StnDaemonError, StnGivenBackError, StnRefusedError } from './errors.ts';

const requests = messageCodec(STNRequest);
const replies = messageCodec(STNReply);
/** Also for daemons that take a while: the driver of a NIC may wait for the process that uses it. */
const limits = { StolenInterfaceInfo: 5_000, StealInterface: 20_000, ReleaseInterface: 9_000 };

/**
 * All requests of the daemon. Each throws StnRefusedError, or StnDaemonError when the outcome is unknown;
 * `stolenInterface` also StnGivenBackError.
 */
export interface StnDaemon extends StnPort {
  /** Takes a NIC from the host. Harmless for one that is taken already. */
  steal(nic: string, useDhcp: boolean): Promise<StolenInterface>;
  /** Gives a NIC back to the host. */
  release(nic: string, useDhcp: boolean): Promise<void>;
}

/** Each request has its own connection: there are one or two in total. */
export function stnDaemonClient(socketPath: string, clock: Pick<Clock, 'wallTime'>): StnDaemon {
  const request = async (
    method: keyof typeof STNService,
    message: DeepInput<STNRequest>,
  ): Promise<StolenInterface> => {
    const deadline = clock.wallTime() + limits[method];
    const reply = await call(socketPath, method, message, deadline);
    if (reply.result !== 0) throw refused(socketPath, message, reply.error);
    return stolenInterface(reply);
  };
  return {
    stolenInterface: (name) => request('StolenInterfaceInfo', { interface_name: name }),
    steal: (name, useDhcp) =>
      request('StealInterface', { interface_name: name, dhcp_enabled: useDhcp }),
    release: async (name, useDhcp) => {
      await request('ReleaseInterface', { interface_name: name, dhcp_enabled: useDhcp });
    },
  };
}

function call(
  socketPath: string,
  method: keyof typeof STNService,
  message: DeepInput<STNRequest>,
  deadline: number,
): Promise<STNReply> {
  const { path } = STNService[method];
  return new Promise((resolve, reject) => {
    const client = new Client(`unix:${socketPath}`, credentials.createInsecure());
    client.makeUnaryRequest(
      path,
      (value: STNRequest) => Buffer.from(requests.encodeWire(value)),
      (bytes: Buffer) => replies.decodeWire(bytes, path),
      requests.canonical(message),
      { deadline },
      (error: ServiceError | null, reply?: STNReply) => {
        client.close();
        if (!error) return resolve(reply!);
        // A daemon in Go answers an error of its own like this, without a reply.
        if (error.code === status.ABORTED)
          return reject(new StnGivenBackError(error.details, { where: socketPath }));
        if (error.code === status.UNKNOWN)
          return reject(refused(socketPath, message, error.details));
        reject(
          new StnDaemonError(`the STN daemon did not answer: ${error.details}`, {
            where: socketPath,
            cause: error,
          }),
        );
      },
    );
  });
}

function refused(socketPath: string, { interface_name }: DeepInput<STNRequest>, reason: string) {
  return new StnRefusedError(`the STN daemon refused the request: ${reason}`, {
    where: interface_name ? `${socketPath}, NIC ${interface_name}` : socketPath,
  });
}

function stolenInterface(reply: STNReply): StolenInterface {
  return {
    pciAddress: reply.pci_address,
    kernelDriver: reply.kernel_driver,
    addresses: reply.ip_addresses,
    routes: reply.routes.map(({ destination_subnet, next_hop_ip }) => ({
      destination: destination_subnet,
      gateway: next_hop_ip,
    })),
  };
}
