/**
 * IP addresses, networks and MACs as text and bytes. Text is formatted as in Go: IPv4 as four
 * decimals, IPv6 after RFC 5952, IPv4-mapped IPv6 as IPv4. Parsers return undefined for invalid text.
 */

export type IpFamily = 4 | 6;

/** 4 or 16 bytes. */
export type IpBytes = Uint8Array;

export interface Cidr {
  /** As written: host bits are kept. */
  readonly address: IpBytes;
  /** Prefix length. */
  readonly length: number;
}

export function ipFamily(bytes: IpBytes): IpFamily {
  return bytes.length === 4 ? 4 : 6;
}

/** `kubernetes`: numbers may have leading zeros. */
type Spelling = 'standard' | 'kubernetes';

/** Family of an address or CIDR; undefined for other texts. */
export function familyOf(text: string): IpFamily | undefined {
  const bytes = parseIp(text) ?? parseCidr(text)?.address;
  return bytes && ipFamily(bytes);
}

/** The first one of addresses or CIDRs that is of a family. */
export function firstOfFamily(texts: readonly string[], family: IpFamily): string | undefined {
  return texts.find((one) => familyOf(one) === family);
}

export function parseIp(text: string): IpBytes | undefined {
  return ipFrom(text, 'standard');
}

/**
 * Parses an address in an object of Kubernetes. The API server accepts leading zeros, and reads decimals
 * (`ParseIPSloppy`), so the objects of others contain them.
 */
export function parseKubernetesIp(text: string): IpBytes | undefined {
  return ipFrom(text, 'kubernetes');
}

function ipFrom(text: string, spelling: Spelling): IpBytes | undefined {
  if (!text.includes(':')) return parseIpv4(text, spelling);
  const bytes = parseIpv6(text, spelling);
  return bytes !== undefined && isMapped(bytes) ? bytes.slice(12) : bytes;
}

export function formatIp(bytes: IpBytes): string {
  if (bytes.length === 4) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`;
  return formatIpv6(bytes);
}

/** Parses `10.1.2.3/24`. With `bare`, a missing prefix length means the full length. */
export function parseCidr(text: string, bare: 'bare' | undefined = undefined): Cidr | undefined {
  if (bare === undefined || text.includes('/')) return cidrFrom(text, 'standard');
  const address = parseIp(text);
  return address && { address, length: address.length * 8 };
}

/** Parses a CIDR in an object of Kubernetes, with leading zeros as in `ParseCIDRSloppy`. */
export function parseKubernetesCidr(text: string): Cidr | undefined {
  return cidrFrom(text, 'kubernetes');
}

function cidrFrom(text: string, spelling: Spelling): Cidr | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const host = text.slice(0, slash);
  const address = host.includes(':') ? parseIpv6(host, spelling) : parseIpv4(host, spelling);
  const length = parseLength(text.slice(slash + 1), spelling);
  if (address === undefined || length === undefined || length > address.length * 8)
    return undefined;
  // as in Go: the prefix length of an IPv4-mapped address counts from the start of its IPv6 form
  const isIpv4 = length >= 96 && address.length === 16 && isMapped(address);
  return isIpv4 ? { address: address.slice(12), length: length - 96 } : { address, length };
}

function parseLength(text: string, spelling: Spelling): number | undefined {
  const pattern = spelling === 'kubernetes' ? /^\d+$/ : /^(0|[1-9]\d{0,2})$/;
  return pattern.test(text) ? Number(text) : undefined;
}

export function formatCidr(cidr: Cidr): string {
  return `${formatIp(cidr.address)}/${cidr.length}`;
}

/** The network of the address: host bits are cleared. */
export function network(cidr: Cidr): Cidr {
  const address = cidr.address.slice();
  for (const [position, byte] of address.entries()) {
    const kept = Math.min(8, Math.max(0, cidr.length - position * 8));
    address[position] = byte & (0xff << (8 - kept));
  }
  return { address, length: cidr.length };
}

/** The last address of the CIDR's network: for IPv4 the broadcast address. */
export function lastAddress(cidr: Cidr): IpBytes {
  return network(cidr).address.map((byte, position) => {
    const free = Math.min(8, Math.max(0, (position + 1) * 8 - cidr.length));
    return byte | (2 ** free - 1);
  });
}

/** Whether the address is in the network of the CIDR. */
export function contains(cidr: Cidr, address: IpBytes): boolean {
  if (cidr.address.length !== address.length) return false;
  // compared in place: plugins look up the addresses of all endpoints of a cluster
  for (let position = 0; position * 8 < cidr.length; position++) {
    const differing = (cidr.address[position] as number) ^ (address[position] as number);
    const kept = Math.min(8, cidr.length - position * 8);
    if (differing >> (8 - kept) !== 0) return false;
  }
  return true;
}

export function isUnspecified(bytes: IpBytes): boolean {
  return bytes.every((byte) => byte === 0);
}

/** The text of the unspecified address in the family of another one. */
export function unspecifiedOf(address: string): string {
  return address.includes(':') ? '::' : '0.0.0.0';
}

/** An address and a port, as URLs write them: `10.1.1.2:80`, `[fd01::2]:80`. */
export function hostAndPort({ address, port }: HostAndPort): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

interface HostAndPort {
  readonly address: string;
  readonly port: number;
}

/** Whether an IPv6 address is in `fc00::/7`: no network outside routes it. */
export function isUniqueLocalIpv6(bytes: IpBytes): boolean {
  return bytes.length === 16 && (bytes[0]! & 0xfe) === 0xfc;
}

/** Whether an IPv6 address is in `fe80::/10`. */
export function isLinkLocalIpv6(bytes: IpBytes): boolean {
  const [first, second = 0] = bytes;
  return bytes.length === 16 && first === 0xfe && (second & 0xc0) === 0x80;
}

/** Parses `02:fe:00:11:22:33`, also with dashes, to six bytes. */
export function parseMac(text: string): Uint8Array | undefined {
  if (!/^[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}$/i.test(text)) return undefined;
  return Uint8Array.from(text.split(text.charAt(2)), (byte) => Number.parseInt(byte, 16));
}

export function formatMac(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(':');
}

function parseIpv4(text: string, spelling: Spelling): IpBytes | undefined {
  const bytes = new Uint8Array(4);
  let position = 0;
  let value = 0;
  let digits = 0;
  for (let index = 0; index <= text.length; index++) {
    const code = index < text.length ? text.charCodeAt(index) : DOT;
    if (code === DOT) {
      if (digits === 0 || position > 3) return undefined;
      bytes[position++] = value;
      value = 0;
      digits = 0;
      continue;
    }
    if (code < ZERO || code > NINE) return undefined;
    if (digits > 0 && value === 0 && spelling === 'standard') return undefined;
    value = value * 10 + code - ZERO;
    digits++;
    if (value > 255) return undefined;
  }
  return position === 4 ? bytes : undefined;
}

const DOT = 46;
const ZERO = 48;
const NINE = 57;

function parseIpv6(text: string, spelling: Spelling): IpBytes | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = groups(halves[0] as string, halves.length === 1, spelling);
  if (head === undefined) return undefined;
  if (halves.length === 1) return head.length === 16 ? Uint8Array.from(head) : undefined;
  const tail = groups(halves[1] as string, true, spelling);
  if (tail === undefined || head.length + tail.length > 14) return undefined;
  const bytes = new Uint8Array(16);
  bytes.set(head);
  bytes.set(tail, 16 - tail.length);
  return bytes;
}

/** Bytes of `1:2:3`; at the end of the text, the last group may be an IPv4 address. */
function groups(text: string, atEnd: boolean, spelling: Spelling): number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const parts = text.split(':');
  for (const [position, part] of parts.entries()) {
    if (part.includes('.')) {
      const embedded =
        atEnd && position === parts.length - 1 ? parseIpv4(part, spelling) : undefined;
      if (embedded === undefined) return undefined;
      bytes.push(...embedded);
      continue;
    }
    const pattern = spelling === 'kubernetes' ? /^0*[0-9a-f]{1,4}$/i : /^[0-9a-f]{1,4}$/i;
    if (!pattern.test(part)) return undefined;
    const value = Number.parseInt(part, 16);
    bytes.push(value >> 8, value & 0xff);
  }
  return bytes;
}

function isMapped(bytes: IpBytes): boolean {
  return bytes[10] === 0xff && bytes[11] === 0xff && isUnspecified(bytes.subarray(0, 10));
}

function formatIpv6(bytes: IpBytes): string {
  const values: number[] = [];
  for (let at = 0; at < 16; at += 2) {
    values.push(((bytes[at] as number) << 8) | (bytes[at + 1] as number));
  }
  // the longest run of two or more zero groups is written `::`; the first one if several are equal
  let start = 8;
  let longest = 1;
  for (let at = 0; at < 8; at++) {
    let run = 0;
    while (at + run < 8 && values[at + run] === 0) run++;
    if (run > longest) {
      start = at;
      longest = run;
    }
    if (run > 0) at += run - 1;
  }
  const hex = (part: readonly number[]): string =>
    part.map((value) => value.toString(16)).join(':');
  if (start === 8) return hex(values);
  return `${hex(values.slice(0, start))}::${hex(values.slice(start + longest))}`;
}
