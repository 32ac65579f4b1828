/** The STN daemon of the host, asked over its unix socket. */
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
    'Look whether contiv-stn runs on the host, whether stnSocketFile names its socket, and whether it has taken the NIC.',
});

const requests = messageCodec(STNRequest);
const replies = messageCodec(STNReply);
const LIMIT_MS = 5_000;

/** Nothing is kept open between two questions: there are one or two in the life of an agent. */
export function stnDaemonClient(socketPath: string, clock: Pick<Clock, 'now'>): StnPort {
  const ask = (name: string): Promise<STNReply> =>
    new Promise((resolve, reject) => {
      const client = new Client(`unix:${socketPath}`, credentials.createInsecure());
      const { path } = STNService.StolenInterfaceInfo;
      client.makeUnaryRequest(
        path,
        (value: STNRequest) => Buffer.from(requests.encodeWire(value)),
        (bytes: Buffer) => replies.decodeWire(bytes, path),
        requests.canonical({ interface_name: name }),
        { deadline: clock.now() + LIMIT_MS },
        (error: ServiceError | null, reply?: STNReply) => {
          client.close();
          if (error)
            reject(
              new StnDaemonError(`the STN daemon does not tell of the NIC: ${error.details}`, {
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
      const reply = await ask(name);
      if (reply.result !== 0)
        throw new StnDaemonError(`the STN daemon refuses: ${reply.error}`, {
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
