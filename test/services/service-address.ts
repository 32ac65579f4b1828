import { formatIp, parseIp } from '#models/ip.ts';

/** Addresses of services in each family; those of IPv6 have the last two bytes of one of IPv4. */
export function serviceAddress(ipv4: string, family: 4 | 6): string {
  if (family === 4) return ipv4;
  const network = ipv4.startsWith('10.96.') ? 'fd05::' : '2001:db8::';
  const address = Uint8Array.from(parseIp(network)!);
  const [, , third = 0, last = 0] = parseIp(ipv4)!;
  address[13] = third;
  address[15] = last;
  return formatIp(address);
}
