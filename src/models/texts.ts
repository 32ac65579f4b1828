/** Text rules for addresses, as models declare them for their fields. */
import { formatCidr, formatIp, formatMac, network, parseCidr, parseIp, parseMac } from './ip.ts';
import { FieldProblem, shown } from './problem.ts';
import type { TextRule } from './rules.ts';

export const ip: TextRule = (text) => {
  const bytes = parseIp(text);
  if (bytes === undefined) throw new FieldProblem(`${shown(text)} is not an IP address`);
  return formatIp(bytes);
};

/** A route's destination: address and mask length, host part dropped. */
export const networkCidr: TextRule = (text) => {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw notCidr(text);
  return formatCidr(network(cidr));
};

/** A network that may be written as a bare address (then with the full mask), as in ACLs. */
export const networkOrHost: TextRule = (text) => {
  const cidr = parseCidr(text, 'bare');
  if (cidr === undefined) throw notCidr(text);
  return formatCidr(network(cidr));
};

/** An interface's address: host part kept. */
export const interfaceCidr: TextRule = (text) => {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw notCidr(text);
  return formatCidr(cidr);
};

export const mac: TextRule = (text) => {
  const bytes = parseMac(text);
  if (bytes === undefined) throw new FieldProblem(`${shown(text)} is not a MAC address`);
  return formatMac(bytes);
};

/** References to addresses that somebody else allocates are kept as they are. */
export const ALLOC_PREFIX = 'alloc:';

export function orAllocated(rule: TextRule): TextRule {
  return (text) => (text.startsWith(ALLOC_PREFIX) ? text : rule(text));
}

function notCidr(text: string): FieldProblem {
  return new FieldProblem(`${shown(text)} is not an address with mask length`);
}
