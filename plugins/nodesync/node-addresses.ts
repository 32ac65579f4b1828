/**
 * Addresses in the records of other nodes are untrusted: a route for a wrong one cuts off this node, or
 * another one.
 */
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import { ipFamily, isLinkLocalIpv6, isUnspecified, parseCidr, parseIp } from '#models/ip.ts';
import type { Node } from './api.ts';

export const NodeAddressError = defineError({
  name: 'NodeAddressError',
  code: 'CV_NODESYNC_ADDRESS',
  isRetriable: false,
  remedy:
    'Correct the addresses of the named node: its Node object in Kubernetes, or the configuration of its agent.',
});

export function nodeAddressError(name: string, reason: string, where: string): CodedError {
  return new NodeAddressError(`ignoring an address of node ${name}: ${reason}`, { where });
}

/** Why no node can have an address, with or without prefix length; undefined if one can. */
export function whyNoNodeAddress(text: string): string | undefined {
  const bytes = parseCidr(text)?.address ?? parseIp(text);
  if (bytes === undefined) return undefined;
  const [first = 0] = bytes;
  const isV4 = ipFamily(bytes) === 4;
  if (isUnspecified(bytes)) return `${text} is the unspecified address`;
  if (isV4 ? first === 127 : bytes.every((byte, at) => byte === (at === 15 ? 1 : 0)))
    return `${text} is a loopback address`;
  if (isV4 ? first >= 224 && first < 240 : first === 0xff) return `${text} is a multicast address`;
  if (isV4 && first >= 240) return `${text} is a reserved address`;
  if (isLinkLocalIpv6(bytes)) return `${text} is a link-local address`;
  return undefined;
}

/** Management addresses of another node that this node has, too. */
export function ownAddressesOf(own: Node, other: Node): readonly string[] {
  const vppSide = own.vppAddresses.map((cidr) => cidr.split('/')[0]!);
  return other.managementAddresses.filter(
    (address) => own.managementAddresses.includes(address) || vppSide.includes(address),
  );
}
