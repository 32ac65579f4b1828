// Made by scripts/gen-binapi.ts from the definitions of VPP. Do not edit: change used.ts.

/** `acl_action`, u8 */
export const AclAction = {
  ACL_ACTION_API_DENY: 0,
  ACL_ACTION_API_PERMIT: 1,
  ACL_ACTION_API_PERMIT_REFLECT: 2,
} as const;
export type AclAction = number;

/** `address_family`, u8 */
export const AddressFamily = {
  ADDRESS_IP4: 0,
  ADDRESS_IP6: 1,
} as const;
export type AddressFamily = number;

/** `af_packet_flags`, u32 */
export const AfPacketFlags = {
  AF_PACKET_API_FLAG_QDISC_BYPASS: 1,
  AF_PACKET_API_FLAG_CKSUM_GSO: 2,
  AF_PACKET_API_FLAG_VERSION_2: 8,
} as const;
export type AfPacketFlags = number;

/** `af_packet_mode`, u32 */
export const AfPacketMode = {
  AF_PACKET_API_MODE_ETHERNET: 1,
  AF_PACKET_API_MODE_IP: 2,
} as const;
export type AfPacketMode = number;

/** `dhcp_client_state`, u32 */
export const DhcpClientState = {
  DHCP_CLIENT_STATE_API_DISCOVER: 0,
  DHCP_CLIENT_STATE_API_REQUEST: 1,
  DHCP_CLIENT_STATE_API_BOUND: 2,
} as const;
export type DhcpClientState = number;

/** `fib_path_flags`, u32 */
export const FibPathFlags = {
  FIB_API_PATH_FLAG_NONE: 0,
  FIB_API_PATH_FLAG_RESOLVE_VIA_ATTACHED: 1,
  FIB_API_PATH_FLAG_RESOLVE_VIA_HOST: 2,
  FIB_API_PATH_FLAG_POP_PW_CW: 4,
} as const;
export type FibPathFlags = number;

/** `fib_path_nh_proto`, u32 */
export const FibPathNhProto = {
  FIB_API_PATH_NH_PROTO_IP4: 0,
  FIB_API_PATH_NH_PROTO_IP6: 1,
  FIB_API_PATH_NH_PROTO_MPLS: 2,
  FIB_API_PATH_NH_PROTO_ETHERNET: 3,
  FIB_API_PATH_NH_PROTO_BIER: 4,
} as const;
export type FibPathNhProto = number;

/** `fib_path_type`, u32 */
export const FibPathType = {
  FIB_API_PATH_TYPE_NORMAL: 0,
  FIB_API_PATH_TYPE_LOCAL: 1,
  FIB_API_PATH_TYPE_DROP: 2,
  FIB_API_PATH_TYPE_UDP_ENCAP: 3,
  FIB_API_PATH_TYPE_BIER_IMP: 4,
  FIB_API_PATH_TYPE_ICMP_UNREACH: 5,
  FIB_API_PATH_TYPE_ICMP_PROHIBIT: 6,
  FIB_API_PATH_TYPE_SOURCE_LOOKUP: 7,
  FIB_API_PATH_TYPE_DVR: 8,
  FIB_API_PATH_TYPE_INTERFACE_RX: 9,
  FIB_API_PATH_TYPE_CLASSIFY: 10,
} as const;
export type FibPathType = number;

/** `if_status_flags`, u32 */
export const IfStatusFlags = {
  IF_STATUS_API_FLAG_ADMIN_UP: 1,
  IF_STATUS_API_FLAG_LINK_UP: 2,
} as const;
export type IfStatusFlags = number;

/** `if_type`, u32 */
export const IfType = {
  IF_API_TYPE_HARDWARE: 0,
  IF_API_TYPE_SUB: 1,
  IF_API_TYPE_P2P: 2,
  IF_API_TYPE_PIPE: 3,
} as const;
export type IfType = number;

/** `ip_dscp`, u8 */
export const IpDscp = {
  IP_API_DSCP_CS0: 0,
  IP_API_DSCP_CS1: 8,
  IP_API_DSCP_AF11: 10,
  IP_API_DSCP_AF12: 12,
  IP_API_DSCP_AF13: 14,
  IP_API_DSCP_CS2: 16,
  IP_API_DSCP_AF21: 18,
  IP_API_DSCP_AF22: 20,
  IP_API_DSCP_AF23: 22,
  IP_API_DSCP_CS3: 24,
  IP_API_DSCP_AF31: 26,
  IP_API_DSCP_AF32: 28,
  IP_API_DSCP_AF33: 30,
  IP_API_DSCP_CS4: 32,
  IP_API_DSCP_AF41: 34,
  IP_API_DSCP_AF42: 36,
  IP_API_DSCP_AF43: 38,
  IP_API_DSCP_CS5: 40,
  IP_API_DSCP_EF: 46,
  IP_API_DSCP_CS6: 48,
  IP_API_DSCP_CS7: 50,
} as const;
export type IpDscp = number;

/** `ip_neighbor_event_flags`, u32 */
export const IpNeighborEventFlags = {
  IP_NEIGHBOR_API_EVENT_FLAG_ADDED: 1,
  IP_NEIGHBOR_API_EVENT_FLAG_REMOVED: 2,
} as const;
export type IpNeighborEventFlags = number;

/** `ip_neighbor_flags`, u8 */
export const IpNeighborFlags = {
  IP_API_NEIGHBOR_FLAG_NONE: 0,
  IP_API_NEIGHBOR_FLAG_STATIC: 1,
  IP_API_NEIGHBOR_FLAG_NO_FIB_ENTRY: 2,
} as const;
export type IpNeighborFlags = number;

/** `ip_proto`, u8 */
export const IpProto = {
  IP_API_PROTO_HOPOPT: 0,
  IP_API_PROTO_ICMP: 1,
  IP_API_PROTO_IGMP: 2,
  IP_API_PROTO_TCP: 6,
  IP_API_PROTO_UDP: 17,
  IP_API_PROTO_GRE: 47,
  IP_API_PROTO_ESP: 50,
  IP_API_PROTO_AH: 51,
  IP_API_PROTO_ICMP6: 58,
  IP_API_PROTO_EIGRP: 88,
  IP_API_PROTO_OSPF: 89,
  IP_API_PROTO_SCTP: 132,
  IP_API_PROTO_RESERVED: 255,
} as const;
export type IpProto = number;

/** `ip_reass_type`, u32 */
export const IpReassType = {
  IP_REASS_TYPE_FULL: 0,
  IP_REASS_TYPE_SHALLOW_VIRTUAL: 1,
} as const;
export type IpReassType = number;

/** `l2_port_type`, u32 */
export const L2PortType = {
  L2_API_PORT_TYPE_NORMAL: 0,
  L2_API_PORT_TYPE_BVI: 1,
  L2_API_PORT_TYPE_UU_FWD: 2,
} as const;
export type L2PortType = number;

/** `link_duplex`, u32 */
export const LinkDuplex = {
  LINK_DUPLEX_API_UNKNOWN: 0,
  LINK_DUPLEX_API_HALF: 1,
  LINK_DUPLEX_API_FULL: 2,
} as const;
export type LinkDuplex = number;

/** `memif_mode`, u32 */
export const MemifMode = {
  MEMIF_MODE_API_ETHERNET: 0,
  MEMIF_MODE_API_IP: 1,
  MEMIF_MODE_API_PUNT_INJECT: 2,
} as const;
export type MemifMode = number;

/** `memif_role`, u32 */
export const MemifRole = {
  MEMIF_ROLE_API_MASTER: 0,
  MEMIF_ROLE_API_SLAVE: 1,
} as const;
export type MemifRole = number;

/** `nat44_config_flags`, u8 */
export const Nat44ConfigFlags = {
  NAT44_IS_ENDPOINT_INDEPENDENT: 0,
  NAT44_IS_ENDPOINT_DEPENDENT: 1,
  NAT44_IS_STATIC_MAPPING_ONLY: 2,
  NAT44_IS_CONNECTION_TRACKING: 4,
  NAT44_IS_OUT2IN_DPO: 8,
} as const;
export type Nat44ConfigFlags = number;

/** `nat_config_flags`, u8 */
export const NatConfigFlags = {
  NAT_IS_NONE: 0,
  NAT_IS_TWICE_NAT: 1,
  NAT_IS_SELF_TWICE_NAT: 2,
  NAT_IS_OUT2IN_ONLY: 4,
  NAT_IS_ADDR_ONLY: 8,
  NAT_IS_OUTSIDE: 16,
  NAT_IS_INSIDE: 32,
  NAT_IS_STATIC: 64,
  NAT_IS_EXT_HOST_VALID: 128,
} as const;
export type NatConfigFlags = number;

/** `nat_log_level`, u8 */
export const NatLogLevel = {
  NAT_LOG_NONE: 0,
  NAT_LOG_ERROR: 1,
  NAT_LOG_WARNING: 2,
  NAT_LOG_NOTICE: 3,
  NAT_LOG_INFO: 4,
  NAT_LOG_DEBUG: 5,
} as const;
export type NatLogLevel = number;

/** `punt_type`, u32 */
export const PuntType = {
  PUNT_API_TYPE_L4: 0,
  PUNT_API_TYPE_IP_PROTO: 1,
  PUNT_API_TYPE_EXCEPTION: 2,
} as const;
export type PuntType = number;

/** `rx_mode`, u32 */
export const RxMode = {
  RX_MODE_API_UNKNOWN: 0,
  RX_MODE_API_POLLING: 1,
  RX_MODE_API_INTERRUPT: 2,
  RX_MODE_API_ADAPTIVE: 3,
  RX_MODE_API_DEFAULT: 4,
} as const;
export type RxMode = number;

/** `span_state`, u32 */
export const SpanState = {
  SPAN_STATE_API_DISABLED: 0,
  SPAN_STATE_API_RX: 1,
  SPAN_STATE_API_TX: 2,
  SPAN_STATE_API_RX_TX: 3,
} as const;
export type SpanState = number;

/** `sub_if_flags`, u32 */
export const SubIfFlags = {
  SUB_IF_API_FLAG_NO_TAGS: 1,
  SUB_IF_API_FLAG_ONE_TAG: 2,
  SUB_IF_API_FLAG_TWO_TAGS: 4,
  SUB_IF_API_FLAG_DOT1AD: 8,
  SUB_IF_API_FLAG_EXACT_MATCH: 16,
  SUB_IF_API_FLAG_DEFAULT: 32,
  SUB_IF_API_FLAG_OUTER_VLAN_ID_ANY: 64,
  SUB_IF_API_FLAG_INNER_VLAN_ID_ANY: 128,
  SUB_IF_API_FLAG_MASK_VNET: 254,
  SUB_IF_API_FLAG_DOT1AH: 256,
} as const;
export type SubIfFlags = number;

/** `tap_flags`, u32 */
export const TapFlags = {
  TAP_API_FLAG_GSO: 1,
  TAP_API_FLAG_CSUM_OFFLOAD: 2,
  TAP_API_FLAG_PERSIST: 4,
  TAP_API_FLAG_ATTACH: 8,
  TAP_API_FLAG_TUN: 16,
  TAP_API_FLAG_GRO_COALESCE: 32,
  TAP_API_FLAG_PACKED: 64,
  TAP_API_FLAG_IN_ORDER: 128,
  TAP_API_FLAG_CONSISTENT_QP: 256,
} as const;
export type TapFlags = number;

/** `ip_flow_hash_config`, u32 */
export const IpFlowHashConfig = {
  IP_API_FLOW_HASH_SRC_IP: 1,
  IP_API_FLOW_HASH_DST_IP: 2,
  IP_API_FLOW_HASH_SRC_PORT: 4,
  IP_API_FLOW_HASH_DST_PORT: 8,
  IP_API_FLOW_HASH_PROTO: 16,
  IP_API_FLOW_HASH_REVERSE: 32,
  IP_API_FLOW_HASH_SYMETRIC: 64,
  IP_API_FLOW_HASH_FLOW_LABEL: 128,
} as const;
export type IpFlowHashConfig = number;
