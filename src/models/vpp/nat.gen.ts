// Made from vpp/nat.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'vpp/nat.proto',
  imports: [],
  nested: { "ligato": { "nested": { "vpp": { "nested": { "nat": { "nested": { "Nat44Global": { "fields": { "forwarding": { "type": "bool", "id": 1 }, "nat_interfaces": { "rule": "repeated", "type": "Interface", "id": 2 }, "address_pool": { "rule": "repeated", "type": "Address", "id": 3 }, "virtual_reassembly": { "type": "VirtualReassembly", "id": 4 }, "endpoint_independent": { "type": "bool", "id": 5 }, "sessions": { "type": "SessionSettings", "id": 16 } }, "nested": { "Interface": { "fields": { "name": { "type": "string", "id": 1 }, "is_inside": { "type": "bool", "id": 2 }, "output_feature": { "type": "bool", "id": 3 } } }, "Address": { "fields": { "address": { "type": "string", "id": 1 }, "vrf_id": { "type": "uint32", "id": 2 }, "twice_nat": { "type": "bool", "id": 3 } } } } }, "SessionSettings": { "fields": { "max_sessions": { "type": "uint32", "id": 1 }, "udp_timeout": { "type": "uint32", "id": 2 }, "tcp_established_timeout": { "type": "uint32", "id": 3 }, "tcp_transitory_timeout": { "type": "uint32", "id": 4 }, "icmp_timeout": { "type": "uint32", "id": 5 }, "several_workers": { "type": "bool", "id": 6 }, "table_limits": { "rule": "repeated", "type": "TableLimit", "id": 7 } } }, "TableLimit": { "fields": { "vrf_id": { "type": "uint32", "id": 1 }, "max_sessions": { "type": "uint32", "id": 2 } } }, "VirtualReassembly": { "fields": { "timeout": { "type": "uint32", "id": 1 }, "max_reassemblies": { "type": "uint32", "id": 2 }, "max_fragments": { "type": "uint32", "id": 3 }, "drop_fragments": { "type": "bool", "id": 4 } } }, "Nat44Interface": { "fields": { "name": { "type": "string", "id": 1 }, "nat_inside": { "type": "bool", "id": 2 }, "nat_outside": { "type": "bool", "id": 3 }, "output_feature": { "type": "bool", "id": 4 }, "classify": { "type": "bool", "id": 16 }, "output_only": { "type": "bool", "id": 17 } } }, "Nat44AddressPool": { "fields": { "vrf_id": { "type": "uint32", "id": 1 }, "first_ip": { "type": "string", "id": 2 }, "last_ip": { "type": "string", "id": 3 }, "twice_nat": { "type": "bool", "id": 4 }, "name": { "type": "string", "id": 5 } } }, "DNat44": { "fields": { "label": { "type": "string", "id": 1 }, "st_mappings": { "rule": "repeated", "type": "StaticMapping", "id": 2 }, "id_mappings": { "rule": "repeated", "type": "IdentityMapping", "id": 3 } }, "nested": { "Protocol": { "values": { "TCP": 0, "UDP": 1, "ICMP": 2 } }, "StaticMapping": { "fields": { "external_interface": { "type": "string", "id": 1 }, "external_ip": { "type": "string", "id": 2 }, "external_port": { "type": "uint32", "id": 3 }, "local_ips": { "rule": "repeated", "type": "LocalIP", "id": 4 }, "protocol": { "type": "Protocol", "id": 5 }, "twice_nat": { "type": "TwiceNatMode", "id": 6 }, "session_affinity": { "type": "uint32", "id": 7 }, "twice_nat_pool_ip": { "type": "string", "id": 8 } }, "nested": { "TwiceNatMode": { "values": { "DISABLED": 0, "ENABLED": 1, "SELF": 2 } }, "LocalIP": { "fields": { "vrf_id": { "type": "uint32", "id": 1 }, "local_ip": { "type": "string", "id": 2 }, "local_port": { "type": "uint32", "id": 3 }, "probability": { "type": "uint32", "id": 4 } } } } }, "IdentityMapping": { "fields": { "vrf_id": { "type": "uint32", "id": 1 }, "interface": { "type": "string", "id": 2 }, "ip_address": { "type": "string", "id": 3 }, "port": { "type": "uint32", "id": 4 }, "protocol": { "type": "Protocol", "id": 5 }, "requires_pool": { "type": "bool", "id": 16 } } } } }, "CnatTranslation": { "fields": { "external_ip": { "type": "string", "id": 1 }, "external_port": { "type": "uint32", "id": 2 }, "protocol": { "type": "Protocol", "id": 3 }, "source_ip": { "type": "string", "id": 4 }, "client_affinity": { "type": "bool", "id": 5 }, "backends": { "rule": "repeated", "type": "Backend", "id": 6 } }, "nested": { "Protocol": { "values": { "TCP": 0, "UDP": 1 } }, "Backend": { "fields": { "ip_address": { "type": "string", "id": 1 }, "port": { "type": "uint32", "id": 2 } } } } }, "CnatSourceNat": { "fields": { "interface": { "type": "string", "id": 1 }, "address": { "type": "string", "id": 2 } } } } } } } } } },
};

export interface Nat44Global {
  readonly forwarding: boolean;
  /** Deprecated in favour of Nat44Interface. */
  readonly nat_interfaces: readonly Nat44GlobalInterface[];
  /** Deprecated in favour of Nat44AddressPool. */
  readonly address_pool: readonly Nat44GlobalAddress[];
  readonly virtual_reassembly?: VirtualReassembly;
  readonly endpoint_independent: boolean;
  /** Not a field of the original. A changed table size ends all sessions; timeouts change in place. */
  readonly sessions?: SessionSettings;
}
export const Nat44Global: MessageType<Nat44Global> = messageType(file, 'ligato.vpp.nat.Nat44Global');

export interface Nat44GlobalInterface {
  readonly name: string;
  readonly is_inside: boolean;
  readonly output_feature: boolean;
}
export const Nat44GlobalInterface: MessageType<Nat44GlobalInterface> = messageType(file, 'ligato.vpp.nat.Nat44Global.Interface');

export interface Nat44GlobalAddress {
  readonly address: string;
  /** 4294967295 is any table. */
  readonly vrf_id: number;
  readonly twice_nat: boolean;
}
export const Nat44GlobalAddress: MessageType<Nat44GlobalAddress> = messageType(file, 'ligato.vpp.nat.Nat44Global.Address');

/** 0 is VPP's default. */
export interface SessionSettings {
  /** Size of the table of each worker. */
  readonly max_sessions: number;
  /** Seconds without a packet, after which a session may be removed. */
  readonly udp_timeout: number;
  readonly tcp_established_timeout: number;
  /** Of TCP sessions that are being opened or closed. */
  readonly tcp_transitory_timeout: number;
  readonly icmp_timeout: number;
  /**
   * Whether several workers translate. It is read back and not supported: backends of one service on
   * several workers crash VPP.
   */
  readonly several_workers: boolean;
  /** Tables without one have that of the main table, else the size of the session table. */
  readonly table_limits: readonly TableLimit[];
}
export const SessionSettings: MessageType<SessionSettings> = messageType(file, 'ligato.vpp.nat.SessionSettings');

/**
 * While the session table of a worker has so many sessions, packets that enter by an interface of this table get no
 * session, and NAT44 drops those that have none where it looks for a translation, whether they would need one or not.
 */
export interface TableLimit {
  readonly vrf_id: number;
  readonly max_sessions: number;
}
export const TableLimit: MessageType<TableLimit> = messageType(file, 'ligato.vpp.nat.TableLimit');

export interface VirtualReassembly {
  /** Seconds. */
  readonly timeout: number;
  readonly max_reassemblies: number;
  readonly max_fragments: number;
  readonly drop_fragments: boolean;
}
export const VirtualReassembly: MessageType<VirtualReassembly> = messageType(file, 'ligato.vpp.nat.VirtualReassembly');

export interface Nat44Interface {
  readonly name: string;
  readonly nat_inside: boolean;
  readonly nat_outside: boolean;
  readonly output_feature: boolean;
  /**
   * Not a field of the original. VPP decides for each packet whether it is translated, as on an interface
   * that is inside and outside, without routes to the external addresses in the table of the interface.
   */
  readonly classify: boolean;
  /**
   * Not a field of the original. With output_feature: packets that enter by the interface are not translated, and external addresses
   * are not those of the interface.
   */
  readonly output_only: boolean;
}
export const Nat44Interface: MessageType<Nat44Interface> = messageType(file, 'ligato.vpp.nat.Nat44Interface');

export interface Nat44AddressPool {
  /** 4294967295 is any table. */
  readonly vrf_id: number;
  readonly first_ip: string;
  readonly last_ip: string;
  readonly twice_nat: boolean;
  readonly name: string;
}
export const Nat44AddressPool: MessageType<Nat44AddressPool> = messageType(file, 'ligato.vpp.nat.Nat44AddressPool');

export interface DNat44 {
  readonly label: string;
  readonly st_mappings: readonly DNat44StaticMapping[];
  readonly id_mappings: readonly DNat44IdentityMapping[];
}
export const DNat44: MessageType<DNat44> = messageType(file, 'ligato.vpp.nat.DNat44');

export type DNat44Protocol =
  | 'TCP'
  | 'UDP'
  | 'ICMP';

export interface DNat44StaticMapping {
  readonly external_interface: string;
  readonly external_ip: string;
  readonly external_port: number;
  readonly local_ips: readonly DNat44StaticMappingLocalIP[];
  readonly protocol: DNat44Protocol;
  readonly twice_nat: DNat44StaticMappingTwiceNatMode;
  /** Seconds; 0 switches it off. */
  readonly session_affinity: number;
  readonly twice_nat_pool_ip: string;
}
export const DNat44StaticMapping: MessageType<DNat44StaticMapping> = messageType(file, 'ligato.vpp.nat.DNat44.StaticMapping');

export type DNat44StaticMappingTwiceNatMode =
  | 'DISABLED'
  | 'ENABLED'
  | 'SELF';

export interface DNat44StaticMappingLocalIP {
  readonly vrf_id: number;
  readonly local_ip: string;
  readonly local_port: number;
  /** Share among the local addresses, out of the sum of all. */
  readonly probability: number;
}
export const DNat44StaticMappingLocalIP: MessageType<DNat44StaticMappingLocalIP> = messageType(file, 'ligato.vpp.nat.DNat44.StaticMapping.LocalIP');

export interface DNat44IdentityMapping {
  readonly vrf_id: number;
  readonly interface: string;
  readonly ip_address: string;
  readonly port: number;
  readonly protocol: DNat44Protocol;
  /** Not a field of the original: the identity exists only while a pool has its address. */
  readonly requires_pool: boolean;
}
export const DNat44IdentityMapping: MessageType<DNat44IdentityMapping> = messageType(file, 'ligato.vpp.nat.DNat44.IdentityMapping');

/**
 * Not a message of the original. Translation of one address, port and protocol by VPP's plugin cnat, in table 0, without an interface of
 * its own: clients whose packets are routed to the address reach a backend, at any interface.
 */
export interface CnatTranslation {
  /** Of IPv6. */
  readonly external_ip: string;
  readonly external_port: number;
  readonly protocol: CnatTranslationProtocol;
  /** Replaces the address of the client; empty: it stays. */
  readonly source_ip: string;
  /** Whether the address of a client decides which backend it reaches. */
  readonly client_affinity: boolean;
  readonly backends: readonly CnatTranslationBackend[];
}
export const CnatTranslation: MessageType<CnatTranslation> = messageType(file, 'ligato.vpp.nat.CnatTranslation');

export type CnatTranslationProtocol =
  | 'TCP'
  | 'UDP';

export interface CnatTranslationBackend {
  readonly ip_address: string;
  readonly port: number;
}
export const CnatTranslationBackend: MessageType<CnatTranslationBackend> = messageType(file, 'ligato.vpp.nat.CnatTranslation.Backend');

/**
 * Not a message of the original. Source NAT of IPv6 by VPP's plugin cnat: what enters table 0 by the interface leaves with the address,
 * which is one of VPP. Replies come to it at any interface of table 0.
 */
export interface CnatSourceNat {
  readonly interface: string;
  readonly address: string;
}
export const CnatSourceNat: MessageType<CnatSourceNat> = messageType(file, 'ligato.vpp.nat.CnatSourceNat');
