/**
 * Validates names and addresses before they are passed to `ip` and `sh`. Both read lines of words, so
 * every word must match a narrow pattern: no input can become another command.
 */
import { isIP, isIPv6 } from 'node:net';
import { LinuxError } from '../api.ts';

function invalidArgument(what: string, text: string): LinuxError {
  return new LinuxError(`${what} ${JSON.stringify(text)} is not valid`, { errno: 'EINVAL' });
}

/** The kernel's own rule (1–15 characters, no slash, colon, white space), less quotes and `#`. */
export function linkName(name: string): string {
  if (!/^[^\s/:#'"\\%-][^\s/:#'"\\%]{0,14}$/.test(name) || name === '.' || name === '..')
    throw invalidArgument('interface name', name);
  return name;
}

export function macAddress(mac: string): string {
  if (!/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(mac)) throw invalidArgument('MAC address', mac);
  return mac;
}

export function ipAddress(address: string): string {
  if (isIP(address) === 0 || address.includes('%')) throw invalidArgument('IP address', address);
  return address;
}

/** `10.1.1.2/32`; the length is required. */
export function cidr(text: string): string {
  const [address = '', length = '', ...rest] = text.split('/');
  const bits = isIPv6(address) ? 128 : 32;
  if (rest.length > 0 || !/^\d{1,3}$/.test(length) || Number(length) > bits)
    throw invalidArgument('address with prefix length', text);
  ipAddress(address);
  return text;
}

export function isV6(addressOrCidr: string): boolean {
  return addressOrCidr.includes(':');
}

export function wholeNumber(what: string, value: number): string {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff)
    throw invalidArgument(what, String(value));
  return String(value);
}

/** In quotes, for one line of `ip -batch`, which has no escapes and treats `#` as a comment. */
export function quotedAlias(alias: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are rejected
  if (/["#\\\x00-\x1f\x7f]/.test(alias) || Buffer.byteLength(alias) > 255)
    throw invalidArgument('alias', alias);
  return `"${alias}"`;
}

/** Path in /proc/sys: dots are separators, and a slash stands for a dot in a component (sysctl(8)). */
export function sysctlPath(name: string): string {
  const parts = name.split('.').map((part) => part.replaceAll('/', '.'));
  for (const part of parts)
    if (!/^[\w.@-]+$/.test(part) || part === '.' || part === '..')
      throw invalidArgument('sysctl', name);
  return `/proc/sys/${parts.join('/')}`;
}

export function sysctlValue(value: string): string {
  if (!/^[\w.:,/ \t-]*$/.test(value)) throw invalidArgument('sysctl value', value);
  return value;
}
