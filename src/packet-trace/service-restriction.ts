/** The service that does not permit its address to the client of a packet. */
import { addressNumber, contains, network, sameAddress } from './addresses.ts';
import type { RestrictedAddress } from './isolation.ts';
import type { Packet } from './packet.ts';
import type { Device } from './snapshot.ts';

/** At an interface the address of the client decides. */
export function deniedToClient(device: Device, packet: Packet): string | undefined {
  const found = restrictionOf(device, packet);
  const source = addressNumber(packet.source);
  const isPermitted = found?.ranges.some((range) => {
    const parsed = network(range);
    return parsed !== undefined && source !== undefined && contains(parsed, source);
  });
  return found === undefined || isPermitted ? undefined : permittedText(found);
}

/** At a socket, which has no address yet, the pods of the node decide. */
export function deniedToSockets(device: Device, packet: Packet): string | undefined {
  const found = restrictionOf(device, packet);
  return found?.refusesSockets ? `${permittedText(found)}, not all pods of this node` : undefined;
}

function restrictionOf(
  { isolation }: Device,
  { destination, destinationPort, protocol }: Packet,
): RestrictedAddress | undefined {
  return isolation?.services?.find(
    (one) =>
      sameAddress(one.address, destination) &&
      one.port === destinationPort &&
      one.protocol === protocol,
  );
}

function permittedText({ service, ranges }: RestrictedAddress): string {
  const clients = ranges.length === 0 ? 'no client' : `clients in ${ranges.join(', ')} only`;
  return `loadBalancerSourceRanges of service ${service} permit ${clients}`;
}
