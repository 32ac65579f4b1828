/** The policies, or the service, because of which an ACL denies a packet. */
import { sameAddress } from './addresses.ts';
import type { IsolatedPod } from './isolation.ts';
import type { Packet } from './packet.ts';
import { deniedToClient } from './service-restriction.ts';
import type { Device } from './snapshot.ts';

/**
 * @param key of the ACL that denied the packet
 * @returns undefined: the ACL carries no policies, or none isolates an end of the packet, and no service restricts its clients
 */
export function policyDenial(device: Device, key: string, packet: Packet): string | undefined {
  const { isolation } = device;
  if (!isolation?.acls.includes(key)) return undefined;
  const byService = deniedToClient(device, packet);
  if (byService !== undefined) return byService;
  const among = (ends: readonly string[]): readonly IsolatedPod[] =>
    isolation.pods.filter(({ addresses }) =>
      addresses.some((address) => ends.some((end) => sameAddress(address, end))),
    );
  const egress = among([packet.source])
    .filter((pod) => pod.egress.length > 0)
    .map((pod) => `${pod.pod} is isolated for egress by ${pod.egress.join(', ')}`);
  const ingress = among([packet.destination, ...backendsOf(device, packet)])
    .filter((pod) => pod.ingress.length > 0)
    .map((pod) => `${pod.pod} is isolated for ingress by ${pod.ingress.join(', ')}`);
  const ends = [...egress, ...ingress];
  if (ends.length === 0) return undefined;
  const isBoth = egress.length > 0 && ingress.length > 0;
  return `no policy permits it${isBoth ? ' for both ends' : ''}: ${ends.join('; ')}`;
}

/** A packet to a service is compared before it is translated if VPP replaces its source, too. */
function backendsOf(
  { nat }: Device,
  { destination, destinationPort, protocol }: Packet,
): readonly string[] {
  const mappings = nat?.mappings.filter(
    (one) =>
      sameAddress(one.address, destination) &&
      (one.port === 0 || (one.port === destinationPort && one.protocol === protocol)),
  );
  return (mappings ?? []).flatMap(({ backends }) => backends.map(({ address }) => address));
}
