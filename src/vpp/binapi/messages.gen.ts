// Made by scripts/gen-binapi.ts from the definitions of VPP. Do not edit: change used.ts.

import type {
  AclAction,
  AddressFamily,
  AfPacketFlags,
  AfPacketMode,
  DhcpClientState,
  FibPathFlags,
  FibPathNhProto,
  FibPathType,
  IfStatusFlags,
  IfType,
  IpDscp,
  IpNeighborEventFlags,
  IpNeighborFlags,
  IpProto,
  IpReassType,
  L2PortType,
  LinkDuplex,
  MemifMode,
  MemifRole,
  Nat44ConfigFlags,
  NatConfigFlags,
  NatLogLevel,
  PuntType,
  RxMode,
  SpanState,
  SubIfFlags,
  TapFlags,
  IpFlowHashConfig,
} from './enums.gen.ts';

export type AddressWithPrefix = Prefix;

export type InterfaceIndex = number;

/** 4 bytes */
export type Ip4Address = Uint8Array;

export type Ip4AddressWithPrefix = Ip4Prefix;

/** 16 bytes */
export type Ip6Address = Uint8Array;

export type Ip6AddressWithPrefix = Ip6Prefix;

/** 6 bytes */
export type MacAddress = Uint8Array;

export interface AclRule {
  readonly is_permit: AclAction;
  readonly src_prefix: Prefix;
  readonly dst_prefix: Prefix;
  readonly proto: IpProto;
  readonly srcport_or_icmptype_first: number;
  readonly srcport_or_icmptype_last: number;
  readonly dstport_or_icmpcode_first: number;
  readonly dstport_or_icmpcode_last: number;
  readonly tcp_flags_mask: number;
  readonly tcp_flags_value: number;
}

export interface Address {
  readonly af: AddressFamily;
  readonly un: AddressUnion;
}

export interface BdIpMac {
  readonly bd_id: number;
  readonly ip: Address;
  readonly mac: MacAddress;
}

export interface BridgeDomainSwIf {
  readonly context: number;
  readonly sw_if_index: InterfaceIndex;
  readonly shg: number;
}

export interface DhcpClient {
  readonly sw_if_index: InterfaceIndex;
  /** at most 63 bytes */
  readonly hostname: string;
  /** 64 bytes */
  readonly id: Uint8Array;
  readonly want_dhcp_event: boolean;
  readonly set_broadcast_flag: boolean;
  readonly dscp: IpDscp;
  readonly pid: number;
}

export interface DhcpLease {
  readonly sw_if_index: InterfaceIndex;
  readonly state: DhcpClientState;
  readonly is_ipv6: boolean;
  /** at most 63 bytes */
  readonly hostname: string;
  readonly mask_width: number;
  readonly host_address: Address;
  readonly router_address: Address;
  readonly host_mac: MacAddress;
  readonly domain_server: readonly DomainServer[];
}

export interface DomainServer {
  readonly address: Address;
}

export interface FibMplsLabel {
  readonly is_uniform: number;
  readonly label: number;
  readonly ttl: number;
  readonly exp: number;
}

export interface FibPath {
  readonly sw_if_index: number;
  readonly table_id: number;
  readonly rpf_id: number;
  readonly weight: number;
  readonly preference: number;
  readonly type: FibPathType;
  readonly flags: FibPathFlags;
  readonly proto: FibPathNhProto;
  readonly nh: FibPathNh;
  readonly n_labels: number;
  /** 16 elements; empty for all zero */
  readonly label_stack: readonly FibMplsLabel[];
}

export interface FibPathNh {
  readonly address: AddressUnion;
  readonly via_label: number;
  readonly obj_id: number;
  readonly classify_table_index: number;
}

export interface FibSource {
  readonly priority: number;
  readonly id: number;
  /** at most 63 bytes */
  readonly name: string;
}

export interface Ip4Prefix {
  readonly address: Ip4Address;
  readonly len: number;
}

export interface Ip6Prefix {
  readonly address: Ip6Address;
  readonly len: number;
}

export interface IpNeighbor {
  readonly sw_if_index: InterfaceIndex;
  readonly flags: IpNeighborFlags;
  readonly mac_address: MacAddress;
  readonly ip_address: Address;
}

export interface IpRoute {
  readonly table_id: number;
  readonly stats_index: number;
  readonly prefix: Prefix;
  readonly paths: readonly FibPath[];
}

export interface IpRouteV2 {
  readonly table_id: number;
  readonly stats_index: number;
  readonly prefix: Prefix;
  readonly src: number;
  readonly paths: readonly FibPath[];
}

export interface IpTable {
  readonly table_id: number;
  readonly is_ip6: boolean;
  /** at most 63 bytes */
  readonly name: string;
}

export interface MacipAclRule {
  readonly is_permit: AclAction;
  readonly src_mac: MacAddress;
  readonly src_mac_mask: MacAddress;
  readonly src_prefix: Prefix;
}

export interface MessageTableEntry {
  readonly index: number;
  /** at most 63 bytes */
  readonly name: string;
}

export interface ModuleVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** at most 63 bytes */
  readonly name: string;
}

export interface Nat44LbAddrPort {
  readonly addr: Ip4Address;
  readonly port: number;
  readonly probability: number;
  readonly vrf_id: number;
}

export interface NatTimeouts {
  readonly udp: number;
  readonly tcp_established: number;
  readonly tcp_transitory: number;
  readonly icmp: number;
}

export interface Prefix {
  readonly address: Address;
  readonly len: number;
}

export interface ProxyArp {
  readonly table_id: number;
  readonly low: Ip4Address;
  readonly hi: Ip4Address;
}

export interface Punt {
  readonly type: PuntType;
  readonly punt: PuntUnion;
}

export interface PuntException {
  readonly id: number;
}

export interface PuntIpProto {
  readonly af: AddressFamily;
  readonly protocol: IpProto;
}

export interface PuntL4 {
  readonly af: AddressFamily;
  readonly protocol: IpProto;
  readonly port: number;
}

export interface PuntReason {
  readonly id: number;
  readonly name: string;
}

export interface PuntRedirectV2 {
  readonly rx_sw_if_index: InterfaceIndex;
  readonly af: AddressFamily;
  readonly paths: readonly FibPath[];
}

/** 4 or 16 bytes; decoded always 16 */
export type AddressUnion = Uint8Array;

/** One member; raw bytes when a decoded message does not say which. */
export type PuntUnion =
  | { readonly exception: PuntException }
  | { readonly l4: PuntL4 }
  | { readonly ip_proto: PuntIpProto }
  | Uint8Array;

export interface AclAddReplace {
  readonly acl_index: number;
  /** at most 63 bytes */
  readonly tag: string;
  readonly r: readonly AclRule[];
}

export interface AclAddReplaceReply {
  readonly acl_index: number;
  readonly retval: number;
}

export interface AclDel {
  readonly acl_index: number;
}

export interface AclDelReply {
  readonly retval: number;
}

export interface AclDump {
  readonly acl_index: number;
}

export interface AclDetails {
  readonly acl_index: number;
  /** at most 63 bytes */
  readonly tag: string;
  readonly r: readonly AclRule[];
}

export interface AclInterfaceAddDel {
  /** default true */
  readonly is_add?: boolean;
  readonly is_input: boolean;
  readonly sw_if_index: InterfaceIndex;
  readonly acl_index: number;
}

export interface AclInterfaceAddDelReply {
  readonly retval: number;
}

export interface AclInterfaceListDump {
  /** default 4294967295 */
  readonly sw_if_index?: InterfaceIndex;
}

export interface AclInterfaceListDetails {
  readonly sw_if_index: InterfaceIndex;
  readonly n_input: number;
  readonly acls: readonly number[];
}

export interface AclInterfaceSetAclList {
  readonly sw_if_index: InterfaceIndex;
  readonly n_input: number;
  readonly acls: readonly number[];
}

export interface AclInterfaceSetAclListReply {
  readonly retval: number;
}

export interface AddDelIpPuntRedirectV2 {
  /** default true */
  readonly is_add?: boolean;
  readonly punt: PuntRedirectV2;
}

export interface AddDelIpPuntRedirectV2Reply {
  readonly retval: number;
}

export interface AfPacketCreateV3 {
  readonly mode: AfPacketMode;
  readonly hw_addr: MacAddress;
  readonly use_random_hw_addr: boolean;
  /** at most 63 bytes */
  readonly host_if_name: string;
  readonly rx_frame_size: number;
  readonly tx_frame_size: number;
  readonly rx_frames_per_block: number;
  readonly tx_frames_per_block: number;
  readonly flags: AfPacketFlags;
  /** default 1 */
  readonly num_rx_queues?: number;
  /** default 1 */
  readonly num_tx_queues?: number;
}

export interface AfPacketCreateV3Reply {
  readonly retval: number;
  readonly sw_if_index: InterfaceIndex;
}

export interface AfPacketDelete {
  /** at most 63 bytes */
  readonly host_if_name: string;
}

export interface AfPacketDeleteReply {
  readonly retval: number;
}

export type AfPacketDump = Readonly<Record<string, never>>;

export interface AfPacketDetails {
  readonly sw_if_index: InterfaceIndex;
  /** at most 63 bytes */
  readonly host_if_name: string;
}

export type ApiVersions = Readonly<Record<string, never>>;

export interface ApiVersionsReply {
  readonly retval: number;
  readonly api_versions: readonly ModuleVersion[];
}

export interface BdIpMacAddDel {
  /** default true */
  readonly is_add?: boolean;
  readonly entry: BdIpMac;
}

export interface BdIpMacAddDelReply {
  readonly retval: number;
}

export interface BdIpMacDump {
  readonly bd_id: number;
}

export interface BdIpMacDetails {
  readonly entry: BdIpMac;
}

export interface BridgeDomainAddDelV2 {
  readonly bd_id: number;
  readonly flood: boolean;
  readonly uu_flood: boolean;
  readonly forward: boolean;
  readonly learn: boolean;
  readonly arp_term: boolean;
  readonly arp_ufwd: boolean;
  readonly mac_age: number;
  /** at most 63 bytes */
  readonly bd_tag: string;
  /** default true */
  readonly is_add?: boolean;
}

export interface BridgeDomainAddDelV2Reply {
  readonly retval: number;
  readonly bd_id: number;
}

export interface BridgeDomainDump {
  /** default 4294967295 */
  readonly bd_id?: number;
  /** default 4294967295 */
  readonly sw_if_index?: InterfaceIndex;
}

export interface BridgeDomainDetails {
  readonly bd_id: number;
  readonly flood: boolean;
  readonly uu_flood: boolean;
  readonly forward: boolean;
  readonly learn: boolean;
  readonly arp_term: boolean;
  readonly arp_ufwd: boolean;
  readonly mac_age: number;
  /** at most 63 bytes */
  readonly bd_tag: string;
  readonly bvi_sw_if_index: InterfaceIndex;
  readonly uu_fwd_sw_if_index: InterfaceIndex;
  readonly sw_if_details: readonly BridgeDomainSwIf[];
}

export interface CliInband {
  readonly cmd: string;
}

export interface CliInbandReply {
  readonly retval: number;
  readonly reply: string;
}

export type ControlPing = Readonly<Record<string, never>>;

export interface ControlPingReply {
  readonly retval: number;
  readonly vpe_pid: number;
}

export interface CreateLoopback {
  readonly mac_address: MacAddress;
}

export interface CreateLoopbackReply {
  readonly retval: number;
  readonly sw_if_index: InterfaceIndex;
}

export interface CreateLoopbackInstance {
  readonly mac_address: MacAddress;
  readonly is_specified: boolean;
  readonly user_instance: number;
}

export interface CreateLoopbackInstanceReply {
  readonly retval: number;
  readonly sw_if_index: InterfaceIndex;
}

export interface CreateSubif {
  readonly sw_if_index: InterfaceIndex;
  readonly sub_id: number;
  readonly sub_if_flags: SubIfFlags;
  readonly outer_vlan_id: number;
  readonly inner_vlan_id: number;
}

export interface CreateSubifReply {
  readonly retval: number;
  readonly sw_if_index: InterfaceIndex;
}

export interface CreateVlanSubif {
  readonly sw_if_index: InterfaceIndex;
  readonly vlan_id: number;
}

export interface CreateVlanSubifReply {
  readonly retval: number;
  readonly sw_if_index: InterfaceIndex;
}

export interface DeleteLoopback {
  readonly sw_if_index: InterfaceIndex;
}

export interface DeleteLoopbackReply {
  readonly retval: number;
}

export interface DeleteSubif {
  readonly sw_if_index: InterfaceIndex;
}

export interface DeleteSubifReply {
  readonly retval: number;
}

export interface DhcpComplEvent {
  readonly pid: number;
  readonly lease: DhcpLease;
}

export interface DhcpClientConfig {
  readonly is_add: boolean;
  readonly client: DhcpClient;
}

export interface DhcpClientConfigReply {
  readonly retval: number;
}

export type DhcpClientDump = Readonly<Record<string, never>>;

export interface DhcpClientDetails {
  readonly client: DhcpClient;
  readonly lease: DhcpLease;
}

export interface FeatureEnableDisable {
  readonly sw_if_index: InterfaceIndex;
  readonly enable: boolean;
  /** at most 63 bytes */
  readonly arc_name: string;
  /** at most 63 bytes */
  readonly feature_name: string;
}

export interface FeatureEnableDisableReply {
  readonly retval: number;
}

export type FibSourceDump = Readonly<Record<string, never>>;

export interface FibSourceDetails {
  readonly src: FibSource;
}

export interface GetFirstMsgId {
  /** at most 63 bytes */
  readonly name: string;
}

export interface GetFirstMsgIdReply {
  readonly retval: number;
  readonly first_msg_id: number;
}

export interface HwInterfaceSetMtu {
  readonly sw_if_index: InterfaceIndex;
  readonly mtu: number;
}

export interface HwInterfaceSetMtuReply {
  readonly retval: number;
}

export interface IpAddressDump {
  readonly sw_if_index: InterfaceIndex;
  readonly is_ipv6: boolean;
}

export interface IpAddressDetails {
  readonly sw_if_index: InterfaceIndex;
  readonly prefix: AddressWithPrefix;
}

export interface IpNeighborAddDel {
  readonly is_add: boolean;
  readonly neighbor: IpNeighbor;
}

export interface IpNeighborAddDelReply {
  readonly retval: number;
  readonly stats_index: number;
}

export interface IpNeighborConfig {
  readonly af: AddressFamily;
  readonly max_number: number;
  readonly max_age: number;
  readonly recycle: boolean;
}

export interface IpNeighborConfigReply {
  readonly retval: number;
}

export interface IpNeighborConfigGet {
  readonly af: AddressFamily;
}

export interface IpNeighborConfigGetReply {
  readonly retval: number;
  readonly af: AddressFamily;
  readonly max_number: number;
  readonly max_age: number;
  readonly recycle: boolean;
}

export interface IpNeighborDump {
  /** default 4294967295 */
  readonly sw_if_index?: InterfaceIndex;
  readonly af: AddressFamily;
}

export interface IpNeighborDetails {
  readonly age: number;
  readonly neighbor: IpNeighbor;
}

export interface IpNeighborFlush {
  readonly af: AddressFamily;
  /** default 4294967295 */
  readonly sw_if_index?: InterfaceIndex;
}

export interface IpNeighborFlushReply {
  readonly retval: number;
}

export interface IpPuntRedirectV2Dump {
  readonly sw_if_index: InterfaceIndex;
  readonly af: AddressFamily;
}

export interface IpPuntRedirectV2Details {
  readonly punt: PuntRedirectV2;
}

export interface IpReassemblyEnableDisable {
  readonly sw_if_index: InterfaceIndex;
  readonly enable_ip4: boolean;
  readonly enable_ip6: boolean;
  readonly type: IpReassType;
}

export interface IpReassemblyEnableDisableReply {
  readonly retval: number;
}

export interface IpReassemblySet {
  readonly timeout_ms: number;
  readonly max_reassemblies: number;
  readonly max_reassembly_length: number;
  readonly expire_walk_interval_ms: number;
  readonly is_ip6: boolean;
  readonly type: IpReassType;
}

export interface IpReassemblySetReply {
  readonly retval: number;
}

export interface IpRouteAddDel {
  /** default true */
  readonly is_add?: boolean;
  readonly is_multipath: boolean;
  readonly route: IpRoute;
}

export interface IpRouteAddDelReply {
  readonly retval: number;
  readonly stats_index: number;
}

export interface IpRouteAddDelV2 {
  /** default true */
  readonly is_add?: boolean;
  readonly is_multipath: boolean;
  readonly route: IpRouteV2;
}

export interface IpRouteAddDelV2Reply {
  readonly retval: number;
  readonly stats_index: number;
}

export interface IpRouteDump {
  readonly table: IpTable;
}

export interface IpRouteDetails {
  readonly route: IpRoute;
}

export interface IpRouteLookup {
  readonly table_id: number;
  readonly exact: number;
  readonly prefix: Prefix;
}

export interface IpRouteLookupReply {
  readonly retval: number;
  readonly route: IpRoute;
}

export interface IpRouteV2Dump {
  readonly src: number;
  readonly table: IpTable;
}

export interface IpRouteV2Details {
  readonly route: IpRouteV2;
}

export interface IpTableAddDel {
  /** default true */
  readonly is_add?: boolean;
  readonly table: IpTable;
}

export interface IpTableAddDelReply {
  readonly retval: number;
}

export interface IpTableAddDelV2 {
  readonly table: IpTable;
  /** default true */
  readonly create_mfib?: boolean;
  /** default true */
  readonly is_add?: boolean;
}

export interface IpTableAddDelV2Reply {
  readonly retval: number;
}

export interface IpTableAllocate {
  readonly table: IpTable;
}

export interface IpTableAllocateReply {
  readonly retval: number;
  readonly table: IpTable;
}

export type IpTableDump = Readonly<Record<string, never>>;

export interface IpTableDetails {
  readonly table: IpTable;
}

export interface IpUnnumberedDump {
  /** default 4294967295 */
  readonly sw_if_index?: InterfaceIndex;
}

export interface IpUnnumberedDetails {
  readonly sw_if_index: InterfaceIndex;
  readonly ip_sw_if_index: InterfaceIndex;
}

export interface L2FibTableDump {
  readonly bd_id: number;
}

export interface L2FibTableDetails {
  readonly bd_id: number;
  readonly mac: MacAddress;
  readonly sw_if_index: InterfaceIndex;
  readonly static_mac: boolean;
  readonly filter_mac: boolean;
  readonly bvi_mac: boolean;
}

export interface L2InterfaceVlanTagRewrite {
  readonly sw_if_index: InterfaceIndex;
  readonly vtr_op: number;
  readonly push_dot1q: number;
  readonly tag1: number;
  readonly tag2: number;
}

export interface L2InterfaceVlanTagRewriteReply {
  readonly retval: number;
}

export type L2XconnectDump = Readonly<Record<string, never>>;

export interface L2XconnectDetails {
  readonly rx_sw_if_index: InterfaceIndex;
  readonly tx_sw_if_index: InterfaceIndex;
}

export interface L2fibAddDel {
  readonly mac: MacAddress;
  readonly bd_id: number;
  readonly sw_if_index: InterfaceIndex;
  /** default true */
  readonly is_add?: boolean;
  readonly static_mac: boolean;
  readonly filter_mac: boolean;
  readonly bvi_mac: boolean;
}

export interface L2fibAddDelReply {
  readonly retval: number;
}

export interface MacipAclAddReplace {
  /** default 4294967295 */
  readonly acl_index?: number;
  /** at most 63 bytes */
  readonly tag: string;
  readonly r: readonly MacipAclRule[];
}

export interface MacipAclAddReplaceReply {
  readonly acl_index: number;
  readonly retval: number;
}

export interface MacipAclDel {
  readonly acl_index: number;
}

export interface MacipAclDelReply {
  readonly retval: number;
}

export interface MacipAclDump {
  /** default 4294967295 */
  readonly acl_index?: number;
}

export interface MacipAclDetails {
  readonly acl_index: number;
  /** at most 63 bytes */
  readonly tag: string;
  readonly r: readonly MacipAclRule[];
}

export interface MacipAclInterfaceAddDel {
  /** default true */
  readonly is_add?: boolean;
  readonly sw_if_index: InterfaceIndex;
  readonly acl_index: number;
}

export interface MacipAclInterfaceAddDelReply {
  readonly retval: number;
}

export interface MacipAclInterfaceListDump {
  readonly sw_if_index: InterfaceIndex;
}

export interface MacipAclInterfaceListDetails {
  readonly sw_if_index: InterfaceIndex;
  readonly acls: readonly number[];
}

export interface MemifCreateV2 {
  readonly role: MemifRole;
  readonly mode: MemifMode;
  readonly rx_queues: number;
  readonly tx_queues: number;
  readonly id: number;
  readonly socket_id: number;
  readonly ring_size: number;
  readonly buffer_size: number;
  readonly no_zero_copy: boolean;
  readonly use_dma: boolean;
  readonly hw_addr: MacAddress;
  /** at most 23 bytes */
  readonly secret: string;
}

export interface MemifCreateV2Reply {
  readonly retval: number;
  readonly sw_if_index: InterfaceIndex;
}

export interface MemifDelete {
  readonly sw_if_index: InterfaceIndex;
}

export interface MemifDeleteReply {
  readonly retval: number;
}

export type MemifDump = Readonly<Record<string, never>>;

export interface MemifDetails {
  readonly sw_if_index: InterfaceIndex;
  readonly hw_addr: MacAddress;
  readonly id: number;
  readonly role: MemifRole;
  readonly mode: MemifMode;
  readonly zero_copy: boolean;
  readonly socket_id: number;
  readonly ring_size: number;
  readonly buffer_size: number;
  readonly flags: IfStatusFlags;
  /** at most 63 bytes */
  readonly if_name: string;
}

export interface MemifSocketFilenameAddDelV2 {
  readonly is_add: boolean;
  /** default 4294967295 */
  readonly socket_id?: number;
  readonly socket_filename: string;
}

export interface MemifSocketFilenameAddDelV2Reply {
  readonly retval: number;
  readonly socket_id: number;
}

export type MemifSocketFilenameDump = Readonly<Record<string, never>>;

export interface MemifSocketFilenameDetails {
  readonly socket_id: number;
  /** at most 107 bytes */
  readonly socket_filename: string;
}

export interface Nat44AddDelAddressRange {
  readonly first_ip_address: Ip4Address;
  readonly last_ip_address: Ip4Address;
  readonly vrf_id: number;
  readonly is_add: boolean;
  readonly flags: NatConfigFlags;
}

export interface Nat44AddDelAddressRangeReply {
  readonly retval: number;
}

export interface Nat44AddDelIdentityMapping {
  readonly is_add: boolean;
  readonly flags: NatConfigFlags;
  readonly ip_address: Ip4Address;
  readonly protocol: number;
  readonly port: number;
  readonly sw_if_index: InterfaceIndex;
  readonly vrf_id: number;
  /** at most 63 bytes */
  readonly tag: string;
}

export interface Nat44AddDelIdentityMappingReply {
  readonly retval: number;
}

export interface Nat44AddDelLbStaticMapping {
  readonly is_add: boolean;
  readonly flags: NatConfigFlags;
  readonly external_addr: Ip4Address;
  readonly external_port: number;
  readonly protocol: number;
  readonly affinity: number;
  /** at most 63 bytes */
  readonly tag: string;
  readonly locals: readonly Nat44LbAddrPort[];
}

export interface Nat44AddDelLbStaticMappingReply {
  readonly retval: number;
}

export interface Nat44AddDelStaticMappingV2 {
  readonly is_add: boolean;
  readonly match_pool: boolean;
  readonly flags: NatConfigFlags;
  readonly pool_ip_address: Ip4Address;
  readonly local_ip_address: Ip4Address;
  readonly external_ip_address: Ip4Address;
  readonly protocol: number;
  readonly local_port: number;
  readonly external_port: number;
  readonly external_sw_if_index: InterfaceIndex;
  readonly vrf_id: number;
  /** at most 63 bytes */
  readonly tag: string;
}

export interface Nat44AddDelStaticMappingV2Reply {
  readonly retval: number;
}

export type Nat44AddressDump = Readonly<Record<string, never>>;

export interface Nat44AddressDetails {
  readonly ip_address: Ip4Address;
  readonly flags: NatConfigFlags;
  readonly vrf_id: number;
}

export interface Nat44DelSession {
  readonly address: Ip4Address;
  readonly protocol: number;
  readonly port: number;
  readonly vrf_id: number;
  readonly flags: NatConfigFlags;
  readonly ext_host_address: Ip4Address;
  readonly ext_host_port: number;
}

export interface Nat44DelSessionReply {
  readonly retval: number;
}

export interface Nat44EdAddDelOutputInterface {
  readonly is_add: boolean;
  readonly sw_if_index: InterfaceIndex;
}

export interface Nat44EdAddDelOutputInterfaceReply {
  readonly retval: number;
}

export interface Nat44EdAddDelVrfRoute {
  readonly table_vrf_id: number;
  readonly vrf_id: number;
  readonly is_add: boolean;
}

export interface Nat44EdAddDelVrfRouteReply {
  readonly retval: number;
}

export interface Nat44EdAddDelVrfTable {
  readonly table_vrf_id: number;
  readonly is_add: boolean;
}

export interface Nat44EdAddDelVrfTableReply {
  readonly retval: number;
}

export type Nat44EdOutputInterfaceGet = Readonly<Record<string, never>>;

export interface Nat44EdOutputInterfaceDetails {
  readonly sw_if_index: InterfaceIndex;
}

export interface Nat44EdPluginEnableDisable {
  readonly inside_vrf: number;
  readonly outside_vrf: number;
  readonly sessions: number;
  readonly session_memory: number;
  readonly enable: boolean;
  readonly flags: Nat44ConfigFlags;
}

export interface Nat44EdPluginEnableDisableReply {
  readonly retval: number;
}

export interface Nat44ForwardingEnableDisable {
  readonly enable: boolean;
}

export interface Nat44ForwardingEnableDisableReply {
  readonly retval: number;
}

export type Nat44IdentityMappingDump = Readonly<Record<string, never>>;

export interface Nat44IdentityMappingDetails {
  readonly flags: NatConfigFlags;
  readonly ip_address: Ip4Address;
  readonly protocol: number;
  readonly port: number;
  readonly sw_if_index: InterfaceIndex;
  readonly vrf_id: number;
  /** at most 63 bytes */
  readonly tag: string;
}

export interface Nat44InterfaceAddDelFeature {
  readonly is_add: boolean;
  readonly flags: NatConfigFlags;
  readonly sw_if_index: InterfaceIndex;
}

export interface Nat44InterfaceAddDelFeatureReply {
  readonly retval: number;
}

export type Nat44InterfaceDump = Readonly<Record<string, never>>;

export interface Nat44InterfaceDetails {
  readonly flags: NatConfigFlags;
  readonly sw_if_index: InterfaceIndex;
}

export interface Nat44LbStaticMappingAddDelLocal {
  readonly is_add: boolean;
  readonly external_addr: Ip4Address;
  readonly external_port: number;
  readonly protocol: number;
  readonly local: Nat44LbAddrPort;
}

export interface Nat44LbStaticMappingAddDelLocalReply {
  readonly retval: number;
}

export type Nat44LbStaticMappingDump = Readonly<Record<string, never>>;

export interface Nat44LbStaticMappingDetails {
  readonly external_addr: Ip4Address;
  readonly external_port: number;
  readonly protocol: number;
  readonly flags: NatConfigFlags;
  readonly affinity: number;
  /** at most 63 bytes */
  readonly tag: string;
  readonly locals: readonly Nat44LbAddrPort[];
}

export interface Nat44SetSessionLimit {
  readonly session_limit: number;
  readonly vrf_id: number;
}

export interface Nat44SetSessionLimitReply {
  readonly retval: number;
}

export type Nat44ShowRunningConfig = Readonly<Record<string, never>>;

export interface Nat44ShowRunningConfigReply {
  readonly retval: number;
  readonly inside_vrf: number;
  readonly outside_vrf: number;
  readonly users: number;
  readonly sessions: number;
  readonly user_sessions: number;
  readonly user_buckets: number;
  readonly translation_buckets: number;
  readonly forwarding_enabled: boolean;
  readonly ipfix_logging_enabled: boolean;
  readonly timeouts: NatTimeouts;
  readonly log_level: NatLogLevel;
  readonly flags: Nat44ConfigFlags;
}

export type Nat44StaticMappingDump = Readonly<Record<string, never>>;

export interface Nat44StaticMappingDetails {
  readonly flags: NatConfigFlags;
  readonly local_ip_address: Ip4Address;
  readonly external_ip_address: Ip4Address;
  readonly protocol: number;
  readonly local_port: number;
  readonly external_port: number;
  readonly external_sw_if_index: InterfaceIndex;
  readonly vrf_id: number;
  /** at most 63 bytes */
  readonly tag: string;
}

export type Nat44UserDump = Readonly<Record<string, never>>;

export interface Nat44UserDetails {
  readonly vrf_id: number;
  readonly ip_address: Ip4Address;
  readonly nsessions: number;
  readonly nstaticsessions: number;
}

export interface Nat44UserSessionV3Dump {
  readonly ip_address: Ip4Address;
  readonly vrf_id: number;
}

export interface Nat44UserSessionV3Details {
  readonly outside_ip_address: Ip4Address;
  readonly outside_port: number;
  readonly inside_ip_address: Ip4Address;
  readonly inside_port: number;
  readonly protocol: number;
  readonly flags: NatConfigFlags;
  readonly last_heard: bigint;
  readonly time_since_last_heard: bigint;
  readonly total_bytes: bigint;
  readonly total_pkts: number;
  readonly ext_host_address: Ip4Address;
  readonly ext_host_port: number;
  readonly ext_host_nat_address: Ip4Address;
  readonly ext_host_nat_port: number;
  readonly is_timed_out: boolean;
}

export interface NatSetTimeouts {
  readonly udp: number;
  readonly tcp_established: number;
  readonly tcp_transitory: number;
  readonly icmp: number;
}

export interface NatSetTimeoutsReply {
  readonly retval: number;
}

export interface ProxyArpAddDel {
  readonly is_add: boolean;
  readonly proxy: ProxyArp;
}

export interface ProxyArpAddDelReply {
  readonly retval: number;
}

export type ProxyArpDump = Readonly<Record<string, never>>;

export interface ProxyArpDetails {
  readonly proxy: ProxyArp;
}

export type ProxyArpIntfcDump = Readonly<Record<string, never>>;

export interface ProxyArpIntfcDetails {
  readonly sw_if_index: number;
}

export interface ProxyArpIntfcEnableDisable {
  readonly sw_if_index: InterfaceIndex;
  readonly enable: boolean;
}

export interface ProxyArpIntfcEnableDisableReply {
  readonly retval: number;
}

export interface PuntReasonDump {
  readonly reason: PuntReason;
}

export interface PuntReasonDetails {
  readonly reason: PuntReason;
}

export interface PuntSocketDeregister {
  readonly punt: Punt;
}

export interface PuntSocketDeregisterReply {
  readonly retval: number;
}

export interface PuntSocketDump {
  readonly type: PuntType;
}

export interface PuntSocketDetails {
  readonly punt: Punt;
  /** at most 107 bytes */
  readonly pathname: string;
}

export interface PuntSocketRegister {
  readonly header_version: number;
  readonly punt: Punt;
  /** at most 107 bytes */
  readonly pathname: string;
}

export interface PuntSocketRegisterReply {
  readonly retval: number;
  /** at most 107 bytes */
  readonly pathname: string;
}

export interface SetIpFlowHashV2 {
  readonly table_id: number;
  readonly af: AddressFamily;
  readonly flow_hash_config: IpFlowHashConfig;
}

export interface SetIpFlowHashV2Reply {
  readonly retval: number;
}

export interface SetPunt {
  readonly is_add: boolean;
  readonly punt: Punt;
}

export interface SetPuntReply {
  readonly retval: number;
}

export type ShowVersion = Readonly<Record<string, never>>;

export interface ShowVersionReply {
  readonly retval: number;
  /** at most 31 bytes */
  readonly program: string;
  /** at most 31 bytes */
  readonly version: string;
  /** at most 31 bytes */
  readonly build_date: string;
  /** at most 255 bytes */
  readonly build_directory: string;
}

export interface StnAddDelRule {
  readonly ip_address: Address;
  readonly sw_if_index: InterfaceIndex;
  readonly is_add: boolean;
}

export interface StnAddDelRuleReply {
  readonly retval: number;
}

export type StnRulesDump = Readonly<Record<string, never>>;

export interface StnRulesDetails {
  readonly ip_address: Address;
  readonly sw_if_index: InterfaceIndex;
}

export interface SwInterfaceAddDelAddress {
  readonly sw_if_index: InterfaceIndex;
  readonly is_add: boolean;
  readonly del_all: boolean;
  readonly prefix: AddressWithPrefix;
}

export interface SwInterfaceAddDelAddressReply {
  readonly retval: number;
}

export interface SwInterfaceDump {
  /** default 4294967295 */
  readonly sw_if_index?: InterfaceIndex;
  readonly name_filter_valid: boolean;
  readonly name_filter: string;
}

export interface SwInterfaceDetails {
  readonly sw_if_index: InterfaceIndex;
  readonly sup_sw_if_index: number;
  readonly l2_address: MacAddress;
  readonly flags: IfStatusFlags;
  readonly type: IfType;
  readonly link_duplex: LinkDuplex;
  readonly link_speed: number;
  readonly link_mtu: number;
  /** 4 elements; empty for all zero */
  readonly mtu: readonly number[];
  readonly sub_id: number;
  readonly sub_number_of_tags: number;
  readonly sub_outer_vlan_id: number;
  readonly sub_inner_vlan_id: number;
  readonly sub_if_flags: SubIfFlags;
  readonly vtr_op: number;
  readonly vtr_push_dot1q: number;
  readonly vtr_tag1: number;
  readonly vtr_tag2: number;
  readonly outer_tag: number;
  readonly b_dmac: MacAddress;
  readonly b_smac: MacAddress;
  readonly b_vlanid: number;
  readonly i_sid: number;
  /** at most 63 bytes */
  readonly interface_name: string;
  /** at most 63 bytes */
  readonly interface_dev_type: string;
  /** at most 63 bytes */
  readonly tag: string;
}

export interface SwInterfaceGetTable {
  readonly sw_if_index: InterfaceIndex;
  readonly is_ipv6: boolean;
}

export interface SwInterfaceGetTableReply {
  readonly retval: number;
  readonly vrf_id: number;
}

export interface SwInterfaceIp6EnableDisable {
  readonly sw_if_index: InterfaceIndex;
  readonly enable: boolean;
}

export interface SwInterfaceIp6EnableDisableReply {
  readonly retval: number;
}

export interface SwInterfaceRxPlacementDump {
  readonly sw_if_index: InterfaceIndex;
}

export interface SwInterfaceRxPlacementDetails {
  readonly sw_if_index: InterfaceIndex;
  readonly queue_id: number;
  readonly worker_id: number;
  readonly mode: RxMode;
}

export interface SwInterfaceSetFlags {
  readonly sw_if_index: InterfaceIndex;
  readonly flags: IfStatusFlags;
}

export interface SwInterfaceSetFlagsReply {
  readonly retval: number;
}

export interface SwInterfaceSetL2Bridge {
  readonly rx_sw_if_index: InterfaceIndex;
  readonly bd_id: number;
  readonly port_type: L2PortType;
  readonly shg: number;
  /** default true */
  readonly enable?: boolean;
}

export interface SwInterfaceSetL2BridgeReply {
  readonly retval: number;
}

export interface SwInterfaceSetL2Xconnect {
  readonly rx_sw_if_index: InterfaceIndex;
  readonly tx_sw_if_index: InterfaceIndex;
  /** default true */
  readonly enable?: boolean;
}

export interface SwInterfaceSetL2XconnectReply {
  readonly retval: number;
}

export interface SwInterfaceSetMacAddress {
  readonly sw_if_index: InterfaceIndex;
  readonly mac_address: MacAddress;
}

export interface SwInterfaceSetMacAddressReply {
  readonly retval: number;
}

export interface SwInterfaceSetMtu {
  readonly sw_if_index: InterfaceIndex;
  /** 4 elements; empty for all zero */
  readonly mtu: readonly number[];
}

export interface SwInterfaceSetMtuReply {
  readonly retval: number;
}

export interface SwInterfaceSetRxMode {
  readonly sw_if_index: InterfaceIndex;
  readonly queue_id_valid: boolean;
  readonly queue_id: number;
  readonly mode: RxMode;
}

export interface SwInterfaceSetRxModeReply {
  readonly retval: number;
}

export interface SwInterfaceSetRxPlacement {
  readonly sw_if_index: InterfaceIndex;
  readonly queue_id: number;
  readonly worker_id: number;
  readonly is_main: boolean;
}

export interface SwInterfaceSetRxPlacementReply {
  readonly retval: number;
}

export interface SwInterfaceSetTable {
  readonly sw_if_index: InterfaceIndex;
  readonly is_ipv6: boolean;
  readonly vrf_id: number;
}

export interface SwInterfaceSetTableReply {
  readonly retval: number;
}

export interface SwInterfaceSetUnnumbered {
  readonly sw_if_index: InterfaceIndex;
  readonly unnumbered_sw_if_index: InterfaceIndex;
  readonly is_add: boolean;
}

export interface SwInterfaceSetUnnumberedReply {
  readonly retval: number;
}

export interface SwInterfaceSpanDump {
  readonly is_l2: boolean;
}

export interface SwInterfaceSpanDetails {
  readonly sw_if_index_from: InterfaceIndex;
  readonly sw_if_index_to: InterfaceIndex;
  readonly state: SpanState;
  readonly is_l2: boolean;
}

export interface SwInterfaceSpanEnableDisable {
  readonly sw_if_index_from: InterfaceIndex;
  readonly sw_if_index_to: InterfaceIndex;
  readonly state: SpanState;
  readonly is_l2: boolean;
}

export interface SwInterfaceSpanEnableDisableReply {
  readonly retval: number;
}

export interface SwInterfaceTagAddDel {
  readonly is_add: boolean;
  readonly sw_if_index: InterfaceIndex;
  /** at most 63 bytes */
  readonly tag: string;
}

export interface SwInterfaceTagAddDelReply {
  readonly retval: number;
}

export interface SwInterfaceTapV2Dump {
  /** default 4294967295 */
  readonly sw_if_index?: InterfaceIndex;
}

export interface SwInterfaceTapV2Details {
  readonly sw_if_index: number;
  readonly id: number;
  readonly tx_ring_sz: number;
  readonly rx_ring_sz: number;
  readonly host_mtu_size: number;
  readonly host_mac_addr: MacAddress;
  readonly host_ip4_prefix: Ip4AddressWithPrefix;
  readonly host_ip6_prefix: Ip6AddressWithPrefix;
  readonly tap_flags: TapFlags;
  /** at most 63 bytes */
  readonly dev_name: string;
  /** at most 63 bytes */
  readonly host_if_name: string;
  /** at most 63 bytes */
  readonly host_namespace: string;
  /** at most 63 bytes */
  readonly host_bridge: string;
}

export interface TapCreateV3 {
  /** default 4294967295 */
  readonly id?: number;
  /** default true */
  readonly use_random_mac?: boolean;
  readonly mac_address: MacAddress;
  /** default 1 */
  readonly num_rx_queues?: number;
  /** default 1 */
  readonly num_tx_queues?: number;
  /** default 256 */
  readonly tx_ring_sz?: number;
  /** default 256 */
  readonly rx_ring_sz?: number;
  readonly host_mtu_set: boolean;
  readonly host_mtu_size: number;
  readonly host_mac_addr_set: boolean;
  readonly host_mac_addr: MacAddress;
  readonly host_ip4_prefix_set: boolean;
  readonly host_ip4_prefix: Ip4AddressWithPrefix;
  readonly host_ip6_prefix_set: boolean;
  readonly host_ip6_prefix: Ip6AddressWithPrefix;
  readonly host_ip4_gw_set: boolean;
  readonly host_ip4_gw: Ip4Address;
  readonly host_ip6_gw_set: boolean;
  readonly host_ip6_gw: Ip6Address;
  readonly tap_flags: TapFlags;
  readonly host_namespace_set: boolean;
  /** at most 63 bytes */
  readonly host_namespace: string;
  readonly host_if_name_set: boolean;
  /** at most 63 bytes */
  readonly host_if_name: string;
  readonly host_bridge_set: boolean;
  /** at most 63 bytes */
  readonly host_bridge: string;
  readonly tag: string;
}

export interface TapCreateV3Reply {
  readonly retval: number;
  readonly sw_if_index: InterfaceIndex;
}

export interface TapDeleteV2 {
  readonly sw_if_index: InterfaceIndex;
}

export interface TapDeleteV2Reply {
  readonly retval: number;
}

export interface VxlanAddDelTunnelV3 {
  /** default true */
  readonly is_add?: boolean;
  /** default 4294967295 */
  readonly instance?: number;
  readonly src_address: Address;
  readonly dst_address: Address;
  readonly src_port: number;
  readonly dst_port: number;
  readonly mcast_sw_if_index: InterfaceIndex;
  readonly encap_vrf_id: number;
  readonly decap_next_index: number;
  readonly vni: number;
  /** default false */
  readonly is_l3?: boolean;
}

export interface VxlanAddDelTunnelV3Reply {
  readonly retval: number;
  readonly sw_if_index: InterfaceIndex;
}

export interface VxlanTunnelV2Dump {
  readonly sw_if_index: InterfaceIndex;
}

export interface VxlanTunnelV2Details {
  readonly sw_if_index: InterfaceIndex;
  readonly instance: number;
  readonly src_address: Address;
  readonly dst_address: Address;
  readonly src_port: number;
  readonly dst_port: number;
  readonly mcast_sw_if_index: InterfaceIndex;
  readonly encap_vrf_id: number;
  readonly decap_next_index: number;
  readonly vni: number;
}

export interface SwInterfaceEvent {
  readonly pid: number;
  readonly sw_if_index: InterfaceIndex;
  readonly flags: IfStatusFlags;
  readonly deleted: boolean;
}

export interface WantInterfaceEvents {
  readonly enable_disable: number;
  readonly pid: number;
}

export interface WantInterfaceEventsReply {
  readonly retval: number;
}

export interface IpNeighborEventV2 {
  readonly pid: number;
  readonly flags: IpNeighborEventFlags;
  readonly neighbor: IpNeighbor;
}

export interface WantIpNeighborEventsV2 {
  readonly enable: boolean;
  readonly pid: number;
  readonly ip: Address;
  /** default 4294967295 */
  readonly sw_if_index?: InterfaceIndex;
}

export interface WantIpNeighborEventsV2Reply {
  readonly retval: number;
}

/** Answered by one reply. */
export interface Requests {
  readonly acl_add_replace: { readonly request: AclAddReplace; readonly reply: AclAddReplaceReply };
  readonly acl_del: { readonly request: AclDel; readonly reply: AclDelReply };
  readonly acl_interface_add_del: { readonly request: AclInterfaceAddDel; readonly reply: AclInterfaceAddDelReply };
  readonly acl_interface_set_acl_list: { readonly request: AclInterfaceSetAclList; readonly reply: AclInterfaceSetAclListReply };
  readonly add_del_ip_punt_redirect_v2: { readonly request: AddDelIpPuntRedirectV2; readonly reply: AddDelIpPuntRedirectV2Reply };
  readonly af_packet_create_v3: { readonly request: AfPacketCreateV3; readonly reply: AfPacketCreateV3Reply };
  readonly af_packet_delete: { readonly request: AfPacketDelete; readonly reply: AfPacketDeleteReply };
  readonly api_versions: { readonly request: ApiVersions; readonly reply: ApiVersionsReply };
  readonly bd_ip_mac_add_del: { readonly request: BdIpMacAddDel; readonly reply: BdIpMacAddDelReply };
  readonly bridge_domain_add_del_v2: { readonly request: BridgeDomainAddDelV2; readonly reply: BridgeDomainAddDelV2Reply };
  readonly cli_inband: { readonly request: CliInband; readonly reply: CliInbandReply };
  readonly control_ping: { readonly request: ControlPing; readonly reply: ControlPingReply };
  readonly create_loopback: { readonly request: CreateLoopback; readonly reply: CreateLoopbackReply };
  readonly create_loopback_instance: { readonly request: CreateLoopbackInstance; readonly reply: CreateLoopbackInstanceReply };
  readonly create_subif: { readonly request: CreateSubif; readonly reply: CreateSubifReply };
  readonly create_vlan_subif: { readonly request: CreateVlanSubif; readonly reply: CreateVlanSubifReply };
  readonly delete_loopback: { readonly request: DeleteLoopback; readonly reply: DeleteLoopbackReply };
  readonly delete_subif: { readonly request: DeleteSubif; readonly reply: DeleteSubifReply };
  readonly dhcp_client_config: { readonly request: DhcpClientConfig; readonly reply: DhcpClientConfigReply };
  readonly feature_enable_disable: { readonly request: FeatureEnableDisable; readonly reply: FeatureEnableDisableReply };
  readonly get_first_msg_id: { readonly request: GetFirstMsgId; readonly reply: GetFirstMsgIdReply };
  readonly hw_interface_set_mtu: { readonly request: HwInterfaceSetMtu; readonly reply: HwInterfaceSetMtuReply };
  readonly ip_neighbor_add_del: { readonly request: IpNeighborAddDel; readonly reply: IpNeighborAddDelReply };
  readonly ip_neighbor_config: { readonly request: IpNeighborConfig; readonly reply: IpNeighborConfigReply };
  readonly ip_neighbor_config_get: { readonly request: IpNeighborConfigGet; readonly reply: IpNeighborConfigGetReply };
  readonly ip_neighbor_flush: { readonly request: IpNeighborFlush; readonly reply: IpNeighborFlushReply };
  readonly ip_reassembly_enable_disable: { readonly request: IpReassemblyEnableDisable; readonly reply: IpReassemblyEnableDisableReply };
  readonly ip_reassembly_set: { readonly request: IpReassemblySet; readonly reply: IpReassemblySetReply };
  readonly ip_route_add_del: { readonly request: IpRouteAddDel; readonly reply: IpRouteAddDelReply };
  readonly ip_route_add_del_v2: { readonly request: IpRouteAddDelV2; readonly reply: IpRouteAddDelV2Reply };
  readonly ip_route_lookup: { readonly request: IpRouteLookup; readonly reply: IpRouteLookupReply };
  readonly ip_table_add_del: { readonly request: IpTableAddDel; readonly reply: IpTableAddDelReply };
  readonly ip_table_add_del_v2: { readonly request: IpTableAddDelV2; readonly reply: IpTableAddDelV2Reply };
  readonly ip_table_allocate: { readonly request: IpTableAllocate; readonly reply: IpTableAllocateReply };
  readonly l2_interface_vlan_tag_rewrite: { readonly request: L2InterfaceVlanTagRewrite; readonly reply: L2InterfaceVlanTagRewriteReply };
  readonly l2fib_add_del: { readonly request: L2fibAddDel; readonly reply: L2fibAddDelReply };
  readonly macip_acl_add_replace: { readonly request: MacipAclAddReplace; readonly reply: MacipAclAddReplaceReply };
  readonly macip_acl_del: { readonly request: MacipAclDel; readonly reply: MacipAclDelReply };
  readonly macip_acl_interface_add_del: { readonly request: MacipAclInterfaceAddDel; readonly reply: MacipAclInterfaceAddDelReply };
  readonly memif_create_v2: { readonly request: MemifCreateV2; readonly reply: MemifCreateV2Reply };
  readonly memif_delete: { readonly request: MemifDelete; readonly reply: MemifDeleteReply };
  readonly memif_socket_filename_add_del_v2: { readonly request: MemifSocketFilenameAddDelV2; readonly reply: MemifSocketFilenameAddDelV2Reply };
  readonly nat44_add_del_address_range: { readonly request: Nat44AddDelAddressRange; readonly reply: Nat44AddDelAddressRangeReply };
  readonly nat44_add_del_identity_mapping: { readonly request: Nat44AddDelIdentityMapping; readonly reply: Nat44AddDelIdentityMappingReply };
  readonly nat44_add_del_lb_static_mapping: { readonly request: Nat44AddDelLbStaticMapping; readonly reply: Nat44AddDelLbStaticMappingReply };
  readonly nat44_add_del_static_mapping_v2: { readonly request: Nat44AddDelStaticMappingV2; readonly reply: Nat44AddDelStaticMappingV2Reply };
  readonly nat44_del_session: { readonly request: Nat44DelSession; readonly reply: Nat44DelSessionReply };
  readonly nat44_ed_add_del_output_interface: { readonly request: Nat44EdAddDelOutputInterface; readonly reply: Nat44EdAddDelOutputInterfaceReply };
  readonly nat44_ed_add_del_vrf_route: { readonly request: Nat44EdAddDelVrfRoute; readonly reply: Nat44EdAddDelVrfRouteReply };
  readonly nat44_ed_add_del_vrf_table: { readonly request: Nat44EdAddDelVrfTable; readonly reply: Nat44EdAddDelVrfTableReply };
  readonly nat44_ed_plugin_enable_disable: { readonly request: Nat44EdPluginEnableDisable; readonly reply: Nat44EdPluginEnableDisableReply };
  readonly nat44_forwarding_enable_disable: { readonly request: Nat44ForwardingEnableDisable; readonly reply: Nat44ForwardingEnableDisableReply };
  readonly nat44_interface_add_del_feature: { readonly request: Nat44InterfaceAddDelFeature; readonly reply: Nat44InterfaceAddDelFeatureReply };
  readonly nat44_lb_static_mapping_add_del_local: { readonly request: Nat44LbStaticMappingAddDelLocal; readonly reply: Nat44LbStaticMappingAddDelLocalReply };
  readonly nat44_set_session_limit: { readonly request: Nat44SetSessionLimit; readonly reply: Nat44SetSessionLimitReply };
  readonly nat44_show_running_config: { readonly request: Nat44ShowRunningConfig; readonly reply: Nat44ShowRunningConfigReply };
  readonly nat_set_timeouts: { readonly request: NatSetTimeouts; readonly reply: NatSetTimeoutsReply };
  readonly proxy_arp_add_del: { readonly request: ProxyArpAddDel; readonly reply: ProxyArpAddDelReply };
  readonly proxy_arp_intfc_enable_disable: { readonly request: ProxyArpIntfcEnableDisable; readonly reply: ProxyArpIntfcEnableDisableReply };
  readonly punt_socket_deregister: { readonly request: PuntSocketDeregister; readonly reply: PuntSocketDeregisterReply };
  readonly punt_socket_register: { readonly request: PuntSocketRegister; readonly reply: PuntSocketRegisterReply };
  readonly set_ip_flow_hash_v2: { readonly request: SetIpFlowHashV2; readonly reply: SetIpFlowHashV2Reply };
  readonly set_punt: { readonly request: SetPunt; readonly reply: SetPuntReply };
  readonly show_version: { readonly request: ShowVersion; readonly reply: ShowVersionReply };
  readonly stn_add_del_rule: { readonly request: StnAddDelRule; readonly reply: StnAddDelRuleReply };
  readonly sw_interface_add_del_address: { readonly request: SwInterfaceAddDelAddress; readonly reply: SwInterfaceAddDelAddressReply };
  readonly sw_interface_get_table: { readonly request: SwInterfaceGetTable; readonly reply: SwInterfaceGetTableReply };
  readonly sw_interface_ip6_enable_disable: { readonly request: SwInterfaceIp6EnableDisable; readonly reply: SwInterfaceIp6EnableDisableReply };
  readonly sw_interface_set_flags: { readonly request: SwInterfaceSetFlags; readonly reply: SwInterfaceSetFlagsReply };
  readonly sw_interface_set_l2_bridge: { readonly request: SwInterfaceSetL2Bridge; readonly reply: SwInterfaceSetL2BridgeReply };
  readonly sw_interface_set_l2_xconnect: { readonly request: SwInterfaceSetL2Xconnect; readonly reply: SwInterfaceSetL2XconnectReply };
  readonly sw_interface_set_mac_address: { readonly request: SwInterfaceSetMacAddress; readonly reply: SwInterfaceSetMacAddressReply };
  readonly sw_interface_set_mtu: { readonly request: SwInterfaceSetMtu; readonly reply: SwInterfaceSetMtuReply };
  readonly sw_interface_set_rx_mode: { readonly request: SwInterfaceSetRxMode; readonly reply: SwInterfaceSetRxModeReply };
  readonly sw_interface_set_rx_placement: { readonly request: SwInterfaceSetRxPlacement; readonly reply: SwInterfaceSetRxPlacementReply };
  readonly sw_interface_set_table: { readonly request: SwInterfaceSetTable; readonly reply: SwInterfaceSetTableReply };
  readonly sw_interface_set_unnumbered: { readonly request: SwInterfaceSetUnnumbered; readonly reply: SwInterfaceSetUnnumberedReply };
  readonly sw_interface_span_enable_disable: { readonly request: SwInterfaceSpanEnableDisable; readonly reply: SwInterfaceSpanEnableDisableReply };
  readonly sw_interface_tag_add_del: { readonly request: SwInterfaceTagAddDel; readonly reply: SwInterfaceTagAddDelReply };
  readonly tap_create_v3: { readonly request: TapCreateV3; readonly reply: TapCreateV3Reply };
  readonly tap_delete_v2: { readonly request: TapDeleteV2; readonly reply: TapDeleteV2Reply };
  readonly vxlan_add_del_tunnel_v3: { readonly request: VxlanAddDelTunnelV3; readonly reply: VxlanAddDelTunnelV3Reply };
  readonly want_interface_events: { readonly request: WantInterfaceEvents; readonly reply: WantInterfaceEventsReply };
  readonly want_ip_neighbor_events_v2: { readonly request: WantIpNeighborEventsV2; readonly reply: WantIpNeighborEventsV2Reply };
}

/** Answered by any number of details. */
export interface Dumps {
  readonly acl_dump: { readonly request: AclDump; readonly details: AclDetails };
  readonly acl_interface_list_dump: { readonly request: AclInterfaceListDump; readonly details: AclInterfaceListDetails };
  readonly af_packet_dump: { readonly request: AfPacketDump; readonly details: AfPacketDetails };
  readonly bd_ip_mac_dump: { readonly request: BdIpMacDump; readonly details: BdIpMacDetails };
  readonly bridge_domain_dump: { readonly request: BridgeDomainDump; readonly details: BridgeDomainDetails };
  readonly dhcp_client_dump: { readonly request: DhcpClientDump; readonly details: DhcpClientDetails };
  readonly fib_source_dump: { readonly request: FibSourceDump; readonly details: FibSourceDetails };
  readonly ip_address_dump: { readonly request: IpAddressDump; readonly details: IpAddressDetails };
  readonly ip_neighbor_dump: { readonly request: IpNeighborDump; readonly details: IpNeighborDetails };
  readonly ip_punt_redirect_v2_dump: { readonly request: IpPuntRedirectV2Dump; readonly details: IpPuntRedirectV2Details };
  readonly ip_route_dump: { readonly request: IpRouteDump; readonly details: IpRouteDetails };
  readonly ip_route_v2_dump: { readonly request: IpRouteV2Dump; readonly details: IpRouteV2Details };
  readonly ip_table_dump: { readonly request: IpTableDump; readonly details: IpTableDetails };
  readonly ip_unnumbered_dump: { readonly request: IpUnnumberedDump; readonly details: IpUnnumberedDetails };
  readonly l2_fib_table_dump: { readonly request: L2FibTableDump; readonly details: L2FibTableDetails };
  readonly l2_xconnect_dump: { readonly request: L2XconnectDump; readonly details: L2XconnectDetails };
  readonly macip_acl_dump: { readonly request: MacipAclDump; readonly details: MacipAclDetails };
  readonly macip_acl_interface_list_dump: { readonly request: MacipAclInterfaceListDump; readonly details: MacipAclInterfaceListDetails };
  readonly memif_dump: { readonly request: MemifDump; readonly details: MemifDetails };
  readonly memif_socket_filename_dump: { readonly request: MemifSocketFilenameDump; readonly details: MemifSocketFilenameDetails };
  readonly nat44_address_dump: { readonly request: Nat44AddressDump; readonly details: Nat44AddressDetails };
  readonly nat44_ed_output_interface_get: { readonly request: Nat44EdOutputInterfaceGet; readonly details: Nat44EdOutputInterfaceDetails };
  readonly nat44_identity_mapping_dump: { readonly request: Nat44IdentityMappingDump; readonly details: Nat44IdentityMappingDetails };
  readonly nat44_interface_dump: { readonly request: Nat44InterfaceDump; readonly details: Nat44InterfaceDetails };
  readonly nat44_lb_static_mapping_dump: { readonly request: Nat44LbStaticMappingDump; readonly details: Nat44LbStaticMappingDetails };
  readonly nat44_static_mapping_dump: { readonly request: Nat44StaticMappingDump; readonly details: Nat44StaticMappingDetails };
  readonly nat44_user_dump: { readonly request: Nat44UserDump; readonly details: Nat44UserDetails };
  readonly nat44_user_session_v3_dump: { readonly request: Nat44UserSessionV3Dump; readonly details: Nat44UserSessionV3Details };
  readonly proxy_arp_dump: { readonly request: ProxyArpDump; readonly details: ProxyArpDetails };
  readonly proxy_arp_intfc_dump: { readonly request: ProxyArpIntfcDump; readonly details: ProxyArpIntfcDetails };
  readonly punt_reason_dump: { readonly request: PuntReasonDump; readonly details: PuntReasonDetails };
  readonly punt_socket_dump: { readonly request: PuntSocketDump; readonly details: PuntSocketDetails };
  readonly stn_rules_dump: { readonly request: StnRulesDump; readonly details: StnRulesDetails };
  readonly sw_interface_dump: { readonly request: SwInterfaceDump; readonly details: SwInterfaceDetails };
  readonly sw_interface_rx_placement_dump: { readonly request: SwInterfaceRxPlacementDump; readonly details: SwInterfaceRxPlacementDetails };
  readonly sw_interface_span_dump: { readonly request: SwInterfaceSpanDump; readonly details: SwInterfaceSpanDetails };
  readonly sw_interface_tap_v2_dump: { readonly request: SwInterfaceTapV2Dump; readonly details: SwInterfaceTapV2Details };
  readonly vxlan_tunnel_v2_dump: { readonly request: VxlanTunnelV2Dump; readonly details: VxlanTunnelV2Details };
}

export interface EventsByName {
  readonly dhcp_compl_event: DhcpComplEvent;
  readonly sw_interface_event: SwInterfaceEvent;
  readonly ip_neighbor_event_v2: IpNeighborEventV2;
}
