/**
 * Validates names, addresses and numbers before they are sent: most have a fixed size in a message, and a
 * sysctl is a path.
 */
import { parseCidr, parseIp, parseMac } from '#models/ip.ts';
import { LinuxError } from '../api.ts';

function check(isValid: boolean, what: string, text: string): void {
  if (!isValid)
    throw new LinuxError(`${what} ${JSON.stringify(text)} is not valid`, { errno: 'EINVAL' });
}

/** The kernel's own rule (1–15 bytes, no slash, colon, white space), less quotes, `#` and a dash first. */
export function checkLinkName(name: string): void {
  const isAllowed = /^[^\s/:#'"\\%-][^\s/:#'"\\%]*$/.test(name) && name !== '.' && name !== '..';
  check(isAllowed && Buffer.byteLength(name) <= 15, 'interface name', name);
}

export function checkMac(mac: string): void {
  check(parseMac(mac) !== undefined && !mac.includes('-'), 'MAC address', mac);
}

export function checkAddress(address: string): void {
  check(parseIp(address) !== undefined, 'IP address', address);
}

/** `10.1.1.2/32`; the length is required. */
export function checkCidr(cidr: string): void {
  check(parseCidr(cidr) !== undefined, 'address with prefix length', cidr);
}

export function checkNumber(what: string, value: number): void {
  const isValid = Number.isInteger(value) && value >= 0 && value <= 0xffff_ffff;
  check(isValid, what, String(value));
}

export function checkAlias(alias: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are rejected
  const isText = !/["#\\\x00-\x1f\x7f]/.test(alias);
  check(isText && Buffer.byteLength(alias) <= 255, 'alias', alias);
}

/** Path in /proc/sys: dots are separators, and a slash stands for a dot in a component (sysctl(8)). */
export function sysctlPath(name: string): string {
  const parts = name.split('.').map((part) => part.replaceAll('/', '.'));
  for (const part of parts)
    check(/^[\w.@-]+$/.test(part) && part !== '.' && part !== '..', 'sysctl', name);
  return `/proc/sys/${parts.join('/')}`;
}

export function checkSysctlValue(value: string): void {
  check(/^[\w.:,/ \t-]*$/.test(value), 'sysctl value', value);
}
