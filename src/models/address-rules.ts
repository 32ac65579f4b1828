/** Text rules for addresses, as models declare them for their fields. */

import { describe, FieldError } from './field-error.ts';
import { formatCidr, formatIp, formatMac, network, parseCidr, parseIp, parseMac } from './ip.ts';
import type { TextRule } from './rules.ts';

export const ipAddressRule: TextRule = (text) => {
  const bytes = parseIp(text);
  if (bytes === undefined) throw new FieldError(`${describe(text)} is not an IP address`);
  return formatIp(bytes);
};

/** A route's destination: address and mask length, host part dropped. */
export const networkCidrRule: TextRule = (text) => {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw notCidrError(text);
  return formatCidr(network(cidr));
};

/** A network that may be written as a bare address (then with the full mask), as in ACLs. */
export const networkOrHostRule: TextRule = (text) => {
  const cidr = parseCidr(text, 'bare');
  if (cidr === undefined) throw notCidrError(text);
  return formatCidr(network(cidr));
};

/** An interface's address: host part kept. */
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

/** References to addresses that somebody else allocates are kept as they are. */
export const ALLOC_PREFIX = 'alloc:';

export function orAllocated(rule: TextRule): TextRule {
  return (text) => (text.startsWith(ALLOC_PREFIX) ? text : rule(text));
}

function notCidrError(text: string): FieldError {
  return new FieldError(`${describe(text)} is not an address with mask length`);
}
