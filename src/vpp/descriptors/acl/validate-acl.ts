import { checkField } from '#kvscheduler/api/check-field.ts';
import type { Acl, AclRule } from '#models/vpp/acl.ts';
import { networksOf } from './rule.ts';

const MAX_PORT = 65_535;
const MAX_BYTE = 255;

/** Tag of ACLs that were created in VPP's CLI. */
export const SHELL_TAG = 'cli';

/** @throws InvalidValueError */
export function validateAcl(key: string, value: Acl): void {
  checkField(key, value.name !== '', 'name', 'missing');
  checkField(
    key,
    value.name !== SHELL_TAG,
    'name',
    'is the tag of ACLs that are created in VPP’s CLI',
  );
  // a bound ACL without rules drops everything
  checkField(key, value.rules.length > 0, 'rules', 'missing');
  for (const [position, rule] of value.rules.entries()) {
    validateRule(rule, (condition, field, reason) =>
      checkField(key, condition, `rules[${position}].${field}`, reason),
    );
  }
  for (const direction of ['ingress', 'egress'] as const) {
    const names = value.interfaces?.[direction] ?? [];
    const field = `interfaces.${direction}`;
    checkField(key, !names.includes(''), field, 'a name is missing');
    checkField(key, new Set(names).size === names.length, field, 'an interface is listed twice');
  }
}

type Check = (condition: boolean, field: string, reason: string) => void;

function validateRule({ ip_rule: rule, macip_rule }: AclRule, check: Check): void {
  check(macip_rule === undefined, 'macip_rule', 'not supported');
  if (rule === undefined) return;
  const { source, destination } = networksOf(rule);
  const oneFamily = source.includes(':') === destination.includes(':');
  check(oneFamily, 'ip_rule.ip', 'the networks are of different families');
  check((rule.ip?.protocol ?? 0) <= MAX_BYTE, 'ip_rule.ip.protocol', 'above 255');
  const kinds = [rule.icmp, rule.tcp, rule.udp].filter((each) => each !== undefined);
  check(kinds.length <= 1, 'ip_rule', 'more than one of icmp, tcp and udp');
  if (rule.icmp !== undefined) {
    const sameFamily = rule.icmp.icmpv6 === source.includes(':');
    check(sameFamily, 'ip_rule.icmp.icmpv6', 'is not of the family of the networks');
  }
  for (const range of [rule.icmp?.icmp_type_range, rule.icmp?.icmp_code_range]) {
    if (range === undefined) continue;
    const fits = range.first <= range.last && range.last <= MAX_BYTE;
    check(fits, 'ip_rule.icmp', 'a range is not ascending within 0 to 255');
  }
  for (const [name, ports] of [
    ['tcp', rule.tcp],
    ['udp', rule.udp],
  ] as const) {
    for (const range of [ports?.source_port_range, ports?.destination_port_range]) {
      if (range === undefined) continue;
      const fits = range.lower_port <= range.upper_port && range.upper_port <= MAX_PORT;
      check(fits, `ip_rule.${name}`, 'a range is not ascending within 0 to 65535');
    }
  }
  const flags = [rule.tcp?.tcp_flags_mask ?? 0, rule.tcp?.tcp_flags_value ?? 0];
  check(Math.max(...flags) <= MAX_BYTE, 'ip_rule.tcp', 'flags above 255');
}
