/**
 * The gRPC service of the original, `stn.STN`. A request that failed is answered with the status UNKNOWN
 * and its text, as the original does: its contiv-init reads nothing else. ABORTED tells contiv-init that VPP has
 * to release the NIC.
 */
import { type handleUnaryCall, status } from '@grpc/grpc-js';
import { CodedError, errorText } from '#infra/errors/errors.ts';
import type { GrpcService } from '#infra/grpc/connection-server.ts';
import type { Logger } from '#infra/log/log.ts';
import { messageCodec } from '#models/message.ts';
import { methodDefinition } from '#models/method-definition.ts';
import type { DeepInput } from '#models/model.ts';
import { STNReply, type STNRequest, STNService } from '#models/stn/stn.gen.ts';
import type { NicRecord, NicRoute } from './nic-record.ts';
import { NicGivenBackError, type StolenNics } from './stolen-nics.ts';

const definition = {
  StealInterface: methodDefinition(STNService.StealInterface),
  ReleaseInterface: methodDefinition(STNService.ReleaseInterface),
  StolenInterfaceInfo: methodDefinition(STNService.StolenInterfaceInfo),
};

const replies = messageCodec(STNReply);

export interface StnServiceDeps {
  readonly nics: Pick<StolenNics, 'steal' | 'release' | 'info'>;
  /** A vswitch has asked for its NIC: it is starting. */
  readonly onSteal: () => void;
  readonly log: Logger;
}

export function stnService({ nics, onSteal, log }: StnServiceDeps): GrpcService {
  const unary =
    (
      name: string,
      answer: (request: STNRequest) => Promise<DeepInput<STNReply>>,
    ): handleUnaryCall<STNRequest, STNReply> =>
    ({ request }, callback) => {
      answer(request).then(
        (reply) => callback(null, replies.canonical(reply)),
        (thrown: unknown) => {
          const nic = request.interface_name;
          const details = errorText(thrown);
          if (thrown instanceof CodedError)
            log.warn({ nic, error: details, code: thrown.code }, `${name} failed`);
          else log.error({ nic, err: thrown }, `${name} failed`);
          const isGivenBack = thrown instanceof NicGivenBackError;
          callback({ code: isGivenBack ? status.ABORTED : status.UNKNOWN, details });
        },
      );
    };
  return {
    definition,
    implementation: {
      StealInterface: unary('StealInterface', async ({ interface_name, dhcp_enabled }) => {
        const record = await nics.steal(interface_name, dhcp_enabled);
        onSteal();
        return replyOf(record);
      }),
      ReleaseInterface: unary('ReleaseInterface', async ({ interface_name }) => {
        await nics.release(interface_name);
        return {};
      }),
      StolenInterfaceInfo: unary('StolenInterfaceInfo', async ({ interface_name }) =>
        replyOf(await nics.info(interface_name)),
      ),
    },
  };
}

const MAIN_TABLE = 254;
const UNICAST = 1;

function replyOf({ pciAddress, driver, addresses, routes }: NicRecord): DeepInput<STNReply> {
  return {
    pci_address: pciAddress,
    kernel_driver: driver,
    ip_addresses: addresses.map(({ address }) => address),
    routes: preferred(
      routes.filter(
        ({ table, type, nextHops }) => table === MAIN_TABLE && type === UNICAST && !nextHops,
      ),
    ).map(({ destination, gateway = '' }) => ({
      destination_subnet: /^(0\.0\.0\.0|::)\/0$/.test(destination) ? '' : destination,
      next_hop_ip: gateway,
    })),
  };
}

/** VPP would balance packets over all routes to a destination. */
function preferred(routes: readonly NicRoute[]): readonly NicRoute[] {
  const lowest = new Map<string, number>();
  for (const { destination, metric = 0 } of routes)
    lowest.set(destination, Math.min(metric, lowest.get(destination) ?? metric));
  return routes.filter(({ destination, metric = 0 }) => metric === lowest.get(destination));
}
