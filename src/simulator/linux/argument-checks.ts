/** Checks of names, addresses and numbers as in the kernel and `ip`; invalid ones give EINVAL. */
import { parseCidr, parseIp, parseMac } from '#models/ip.ts';
import { linuxError } from './linux-error.ts';

function check(valid: boolean, what: string, text: string): void {
  if (!valid) throw linuxError('EINVAL', `${what} ${JSON.stringify(text)}`);
}

export function checkLinkName(name: string): void {
  const dots = name === '.' || name === '..';
  check(/^[^\s/:#'"\\%-][^\s/:#'"\\%]{0,14}$/.test(name) && !dots, 'interface name', name);
}

export function checkMac(mac: string): void {
  check(parseMac(mac) !== undefined && !mac.includes('-'), 'MAC address', mac);
}

export function checkAddress(address: string): void {
  check(parseIp(address) !== undefined, 'IP address', address);
}

export function checkCidr(cidr: string): void {
  check(parseCidr(cidr) !== undefined, 'address with prefix length', cidr);
}

export function checkNumber(what: string, value: number): void {
  const valid = Number.isInteger(value) && value >= 0 && value <= 0xffff_ffff;
  check(valid, what, String(value));
}

export function checkAlias(alias: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the check rejects control characters
  check(!/["#\\\x00-\x1f\x7f]/.test(alias) && alias.length <= 255, 'alias', alias);
}

export function checkSysctl(name: string, value: string): void {
  const parts = name.split('.').map((part) => part.replaceAll('/', '.'));
  const valid = parts.every((part) => /^[\w.@-]+$/.test(part) && part !== '.' && part !== '..');
  check(valid, 'sysctl', name);
  check(/^[\w.:,/ \t-]*$/.test(value), 'sysctl value', value);
}
