/** The policies, or the service, because of which an ACL denies a packet. */
import { addressNumber, contains, network, sameAddress } from './addresses.ts';
import type { IsolatedPod, TracedRule } from './isolation.ts';
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
    .flatMap((pod) => reasonOf(pod, 'egress', packet.destination, packet));
  const ingress = among([packet.destination, ...backendsOf(device, packet)])
    .filter((pod) => pod.ingress.length > 0)
    .flatMap((pod) => reasonOf(pod, 'ingress', packet.source, packet));
  const ends = [...egress, ...ingress];
  if (ends.length === 0) return undefined;
  const isBoth = egress.length > 0 && ingress.length > 0;
  return `no policy permits it${isBoth ? ' for both ends' : ''}: ${ends.join('; ')}`;
}

/** None, if its rules permit the packet. */
function reasonOf(
  pod: IsolatedPod,
  direction: 'ingress' | 'egress',
  other: string,
  packet: Packet,
): string[] {
  const { rules } = pod;
  if (rules === undefined)
    return [`${pod.pod} is isolated for ${direction} by ${pod[direction].join(', ')}`];
  const deciding = decidingRule(rules[direction], other, packet);
  return deciding?.action === 'Deny' ? [`${direction} of ${pod.pod} is ${deciding.text}`] : [];
}

function decidingRule(
  rules: readonly TracedRule[],
  other: string,
  packet: Packet,
): TracedRule | undefined {
  let passed: string | undefined;
  for (const rule of rules) {
    if (rule.tier === passed || !matches(rule, other, packet)) continue;
    if (rule.action !== 'Pass') return rule;
    passed = rule.tier;
  }
  return undefined;
}

function matches({ peers, ports }: TracedRule, other: string, packet: Packet): boolean {
  const address = addressNumber(other);
  const isPeer = peers.some((peer) => {
    const parsed = network(peer);
    return parsed !== undefined && address !== undefined && contains(parsed, address);
  });
  const { protocol, destinationPort = 0 } = packet;
  return (
    isPeer &&
    (ports === undefined ||
      ports.some(
        (one) =>
          one.protocol === protocol && one.first <= destinationPort && destinationPort <= one.last,
      ))
  );
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
