/** Client of the host's STN daemon, over its unix socket. */
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import type { Clock } from '#infra/clock/clock.ts';
import { defineError } from '#infra/errors/errors.ts';
import { messageCodec } from '#models/message.ts';
import { STNReply, STNRequest, STNService } from '#models/stn/stn.gen.ts';
import type { StnPort } from '#plugins/controller/api/ports/stn.ts';

export const StnDaemonError = defineError({
  name: 'StnDaemonError',
  code: 'CV_STN_DAEMON',
  remedy:
    'Check that contiv-stn runs on the host, that stnSocketFile is its socket, and that it has stolen the NIC.',
});

export const StnRefusedError = defineError({
  name: 'StnRefusedError',
  code: 'CV_STN_REFUSED',
  rejects: 'configuration',
  remedy: 'Check the name of the NIC (stealInterface), and that contiv-stn has taken it over.',
});

const requests = messageCodec(STNRequest);
const replies = messageCodec(STNReply);
const LIMIT_MS = 5_000;

/** Each request has its own connection: an agent sends one or two in total. */
export function stnDaemonClient(socketPath: string, clock: Pick<Clock, 'wallTime'>): StnPort {
  const request = (name: string): Promise<STNReply> =>
    new Promise((resolve, reject) => {
      const client = new Client(`unix:${socketPath}`, credentials.createInsecure());
      const { path } = STNService.StolenInterfaceInfo;
      client.makeUnaryRequest(
        path,
        (value: STNRequest) => Buffer.from(requests.encodeWire(value)),
        (bytes: Buffer) => replies.decodeWire(bytes, path),
        requests.canonical({ interface_name: name }),
        { deadline: clock.wallTime() + LIMIT_MS },
        (error: ServiceError | null, reply?: STNReply) => {
          client.close();
          if (error)
            reject(
              new StnDaemonError(`the STN daemon did not answer: ${error.details}`, {
                where: socketPath,
                cause: error,
              }),
            );
          else resolve(reply!);
        },
      );
    });
  return {
    async stolenInterface(name) {
      const reply = await request(name);
      if (reply.result !== 0)
        throw new StnRefusedError(`the STN daemon refused the request: ${reply.error}`, {
          where: name === '' ? socketPath : `${socketPath}, NIC ${name}`,
        });
      return {
        pciAddress: reply.pci_address,
        kernelDriver: reply.kernel_driver,
        addresses: reply.ip_addresses,
        routes: reply.routes.map(({ destination_subnet, next_hop_ip }) => ({
          destination: destination_subnet,
          gateway: next_hop_ip,
        })),
      };
    },
  };
}
