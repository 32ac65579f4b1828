// Made from vpp/acl.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'vpp/acl.proto',
  imports: [],
  nested: { "ligato": { "nested": { "vpp": { "nested": { "acl": { "nested": { "ACL": { "fields": { "name": { "type": "string", "id": 1 }, "rules": { "rule": "repeated", "type": "Rule", "id": 2 }, "interfaces": { "type": "Interfaces", "id": 3 } }, "nested": { "Rule": { "fields": { "action": { "type": "Action", "id": 1 }, "ip_rule": { "type": "IpRule", "id": 2 }, "macip_rule": { "type": "MacIpRule", "id": 3 } }, "nested": { "Action": { "values": { "DENY": 0, "PERMIT": 1, "REFLECT": 2 } }, "IpRule": { "fields": { "ip": { "type": "Ip", "id": 1 }, "icmp": { "type": "Icmp", "id": 2 }, "tcp": { "type": "Tcp", "id": 3 }, "udp": { "type": "Udp", "id": 4 } }, "nested": { "Ip": { "fields": { "destination_network": { "type": "string", "id": 1 }, "source_network": { "type": "string", "id": 2 }, "protocol": { "type": "uint32", "id": 3 } } }, "Icmp": { "fields": { "icmpv6": { "type": "bool", "id": 1 }, "icmp_code_range": { "type": "Range", "id": 2 }, "icmp_type_range": { "type": "Range", "id": 3 } }, "nested": { "Range": { "fields": { "first": { "type": "uint32", "id": 1 }, "last": { "type": "uint32", "id": 2 } } } } }, "PortRange": { "fields": { "lower_port": { "type": "uint32", "id": 1 }, "upper_port": { "type": "uint32", "id": 2 } } }, "Tcp": { "fields": { "destination_port_range": { "type": "PortRange", "id": 1 }, "source_port_range": { "type": "PortRange", "id": 2 }, "tcp_flags_mask": { "type": "uint32", "id": 3 }, "tcp_flags_value": { "type": "uint32", "id": 4 } } }, "Udp": { "fields": { "destination_port_range": { "type": "PortRange", "id": 1 }, "source_port_range": { "type": "PortRange", "id": 2 } } } } }, "MacIpRule": { "fields": { "source_address": { "type": "string", "id": 1 }, "source_address_prefix": { "type": "uint32", "id": 2 }, "source_mac_address": { "type": "string", "id": 3 }, "source_mac_address_mask": { "type": "string", "id": 4 } } } } }, "Interfaces": { "fields": { "egress": { "rule": "repeated", "type": "string", "id": 1 }, "ingress": { "rule": "repeated", "type": "string", "id": 2 } } } } } } } } } } } },
};

export interface ACL {
  /** Up to 63 characters. */
  readonly name: string;
  /** The first rule that matches decides. */
  readonly rules: readonly ACLRule[];
  readonly interfaces?: ACLInterfaces;
}
export const ACL: MessageType<ACL> = messageType(file, 'ligato.vpp.acl.ACL');

export interface ACLRule {
  readonly action: ACLRuleAction;
  readonly ip_rule?: ACLRuleIpRule;
  readonly macip_rule?: ACLRuleMacIpRule;
}
export const ACLRule: MessageType<ACLRule> = messageType(file, 'ligato.vpp.acl.ACL.Rule');

export type ACLRuleAction =
  | 'DENY'
  | 'PERMIT'
  | 'REFLECT';

export interface ACLRuleIpRule {
  readonly ip?: ACLRuleIpRuleIp;
  readonly icmp?: ACLRuleIpRuleIcmp;
  readonly tcp?: ACLRuleIpRuleTcp;
  readonly udp?: ACLRuleIpRuleUdp;
}
export const ACLRuleIpRule: MessageType<ACLRuleIpRule> = messageType(file, 'ligato.vpp.acl.ACL.Rule.IpRule');

export interface ACLRuleIpRuleIp {
  readonly destination_network: string;
  readonly source_network: string;
  /** IP protocol number if none of icmp, tcp and udp is set; 0 is any. */
  readonly protocol: number;
}
export const ACLRuleIpRuleIp: MessageType<ACLRuleIpRuleIp> = messageType(file, 'ligato.vpp.acl.ACL.Rule.IpRule.Ip');

export interface ACLRuleIpRuleIcmp {
  readonly icmpv6: boolean;
  readonly icmp_code_range?: ACLRuleIpRuleIcmpRange;
  readonly icmp_type_range?: ACLRuleIpRuleIcmpRange;
}
export const ACLRuleIpRuleIcmp: MessageType<ACLRuleIpRuleIcmp> = messageType(file, 'ligato.vpp.acl.ACL.Rule.IpRule.Icmp');

export interface ACLRuleIpRuleIcmpRange {
  readonly first: number;
  readonly last: number;
}
export const ACLRuleIpRuleIcmpRange: MessageType<ACLRuleIpRuleIcmpRange> = messageType(file, 'ligato.vpp.acl.ACL.Rule.IpRule.Icmp.Range');

export interface ACLRuleIpRulePortRange {
  readonly lower_port: number;
  readonly upper_port: number;
}
export const ACLRuleIpRulePortRange: MessageType<ACLRuleIpRulePortRange> = messageType(file, 'ligato.vpp.acl.ACL.Rule.IpRule.PortRange');

export interface ACLRuleIpRuleTcp {
  readonly destination_port_range?: ACLRuleIpRulePortRange;
  readonly source_port_range?: ACLRuleIpRulePortRange;
  readonly tcp_flags_mask: number;
  readonly tcp_flags_value: number;
}
export const ACLRuleIpRuleTcp: MessageType<ACLRuleIpRuleTcp> = messageType(file, 'ligato.vpp.acl.ACL.Rule.IpRule.Tcp');

export interface ACLRuleIpRuleUdp {
  readonly destination_port_range?: ACLRuleIpRulePortRange;
  readonly source_port_range?: ACLRuleIpRulePortRange;
}
export const ACLRuleIpRuleUdp: MessageType<ACLRuleIpRuleUdp> = messageType(file, 'ligato.vpp.acl.ACL.Rule.IpRule.Udp');

export interface ACLRuleMacIpRule {
  readonly source_address: string;
  readonly source_address_prefix: number;
  readonly source_mac_address: string;
  readonly source_mac_address_mask: string;
}
export const ACLRuleMacIpRule: MessageType<ACLRuleMacIpRule> = messageType(file, 'ligato.vpp.acl.ACL.Rule.MacIpRule');

export interface ACLInterfaces {
  readonly egress: readonly string[];
  readonly ingress: readonly string[];
}
export const ACLInterfaces: MessageType<ACLInterfaces> = messageType(file, 'ligato.vpp.acl.ACL.Interfaces');
