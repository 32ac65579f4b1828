/** Text rules for address fields of models. */

import { describe, FieldError } from './field-error.ts';
import { formatCidr, formatIp, formatMac, network, parseCidr, parseIp, parseMac } from './ip.ts';
import type { TextRule } from './rules.ts';

export const ipAddressRule: TextRule = (text) => {
  const bytes = parseIp(text);
  if (bytes === undefined) throw new FieldError(`${describe(text)} is not an IP address`);
  return formatIp(bytes);
};

/** The destination of a route: address and prefix length; host bits are cleared. */
export const networkCidrRule: TextRule = (text) => {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw notCidrError(text);
  return formatCidr(network(cidr));
};

/** A network, or a plain address with full prefix length, as in ACLs. */
export const networkOrHostRule: TextRule = (text) => {
  const cidr = parseCidr(text, 'bare');
  if (cidr === undefined) throw notCidrError(text);
  return formatCidr(network(cidr));
};

/** The address of an interface: host bits are kept. */
export const interfaceCidrRule: TextRule = (text) => {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw notCidrError(text);
  return formatCidr(cidr);
};

export const macRule: TextRule = (text) => {
  const bytes = parseMac(text);
  if (bytes === undefined) throw new FieldError(`${describe(text)} is not a MAC address`);
  return formatMac(bytes);
};

/** Prefix of references to allocated addresses; such references are kept unchanged. */
export const ALLOC_PREFIX = 'alloc:';

export function orAllocated(rule: TextRule): TextRule {
  return (text) => (text.startsWith(ALLOC_PREFIX) ? text : rule(text));
}

function notCidrError(text: string): FieldError {
  return new FieldError(`${describe(text)} is not an address with a prefix length`);
}
