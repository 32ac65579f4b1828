/** Addresses that no interface and no gateway can have. */
import { type IpBytes, isUnspecified, parseCidr, parseIp } from '#models/ip.ts';

/** Why a text is not the address of an interface, as the rest of a sentence; undefined: it is one. */
export function interfaceAddressFault(text: string): string | undefined {
  const cidr = parseCidr(text);
  return cidr ? addressFault(cidr.address) : 'is not a valid address with a prefix length';
}

/** As `interfaceAddressFault`, for the address of a gateway. */
export function gatewayFault(text: string): string | undefined {
  const address = parseIp(text);
  return address ? addressFault(address) : 'is not a valid address';
}

function addressFault(address: IpBytes): string | undefined {
  if (isUnspecified(address)) return 'is the unspecified address';
  if (isLoopback(address)) return 'is a loopback address';
  if (isMulticast(address)) return 'is a multicast or reserved address';
  return undefined;
}

function isLoopback(address: IpBytes): boolean {
  if (address.length === 4) return address[0] === 127;
  return address.every((byte, at) => byte === (at === 15 ? 1 : 0));
}

/** Of IPv4 also the reserved addresses above, with the broadcast address. */
function isMulticast(address: IpBytes): boolean {
  return address.length === 4 ? address[0]! >= 224 : address[0] === 0xff;
}
