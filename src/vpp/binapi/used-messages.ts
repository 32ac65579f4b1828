/**
 * The messages of VPP that the project uses: requests, dumps and cursor streams. Their replies,
 * details and events follow from the services in the definitions. After a change here run
 * `node scripts/gen-binapi.ts`, which bundles the definitions and generates the types.
 */

/** Sent by the connection itself; callers cannot send them. */
export const sessionMessages = ['sockclnt_create', 'sockclnt_delete', 'memclnt_keepalive'] as const;

export const usedMessages = [
  // about VPP
  'control_ping',
  'show_version',
  'cli_inband',

  // any interface
  'sw_interface_dump',
  'sw_interface_set_flags',
  'sw_interface_tag_add_del',
  'sw_interface_set_mac_address',
  'sw_interface_set_mtu',
  'hw_interface_set_mtu',
  'sw_interface_set_rx_mode',
  'sw_interface_set_rx_placement',
  'sw_interface_rx_placement_dump',
  'sw_interface_add_del_address',
  'ip_address_dump',
  'sw_interface_set_table',
  'sw_interface_get_table',
  'sw_interface_set_unnumbered',
  'ip_unnumbered_dump',
  'want_interface_events',

  // interfaces by type
  'create_loopback',
  'delete_loopback',
  'tap_create_v3',
  'tap_delete_v2',
  'sw_interface_tap_v2_dump',
  'af_packet_create_v3',
  'af_packet_delete',
  'af_packet_dump',
  'vxlan_add_del_tunnel_v3',
  'vxlan_tunnel_v2_dump',
  'memif_socket_filename_add_del_v2',
  'memif_socket_filename_dump',
  'memif_create_v2',
  'memif_delete',
  'memif_dump',
  'create_vlan_subif',
  'delete_subif',
  'l2_interface_vlan_tag_rewrite',
  'dhcp_client_config',
  'dhcp_client_dump',
  'feature_gso_enable_disable',
  'feature_enable_disable',
  'feature_is_enabled',

  // bandwidth limits
  'policer_add_del',
  'policer_input',
  'policer_output',
  'policer_dump_v2',

  // flow probe
  'set_ipfix_exporter',
  'ipfix_exporter_dump',
  'flowprobe_set_params',
  'flowprobe_get_params',
  'flowprobe_interface_add_del',
  'flowprobe_interface_dump',

  // L2
  'bridge_domain_add_del_v2',
  'bridge_domain_dump',
  'sw_interface_set_l2_bridge',
  'bd_ip_mac_add_del',
  'bd_ip_mac_dump',
  'l2fib_add_del',
  'l2_fib_table_dump',
  'sw_interface_set_l2_xconnect',
  'l2_xconnect_dump',

  // L3
  'ip_table_add_del',
  'ip_table_dump',
  'set_ip_flow_hash_v2',
  'ip_route_add_del',
  'ip_route_add_del_v2',
  'ip_route_v2_dump',
  'ip_route_lookup_v2',
  'fib_source_dump',
  'ip_neighbor_add_del',
  'ip_neighbor_dump',
  'ip_neighbor_config',
  'ip_neighbor_config_get',
  'proxy_arp_add_del',
  'proxy_arp_dump',
  'proxy_arp_intfc_enable_disable',
  'proxy_arp_intfc_dump',
  'ip_reassembly_set',

  // ACL
  'acl_add_replace',
  'acl_del',
  'acl_dump',
  'acl_plugin_get_conn_table_max_entries',
  'acl_interface_set_acl_list',
  'acl_interface_add_del',
  'acl_interface_list_dump',

  // NAT44-ED
  'nat44_ed_plugin_enable_disable',
  'nat44_forwarding_enable_disable',
  'nat44_show_running_config',
  'nat_set_timeouts',
  'nat_set_workers',
  'nat_worker_dump',
  'nat44_set_session_limit',
  'nat44_interface_add_del_feature',
  'nat44_interface_dump',
  'nat44_ed_add_del_output_interface',
  'nat44_ed_output_interface_get',
  'nat44_add_del_address_range',
  'nat44_address_dump',
  'nat44_add_del_static_mapping_v2',
  'nat44_static_mapping_dump',
  'nat44_add_del_lb_static_mapping',
  'nat44_lb_static_mapping_add_del_local',
  'nat44_lb_static_mapping_dump',
  'nat44_add_del_identity_mapping',
  'nat44_identity_mapping_dump',
  'nat44_user_dump',
  'nat44_user_session_v3_dump',
  'nat44_del_session',
  'nat44_ed_add_del_vrf_table',
  'nat44_ed_add_del_vrf_route',

  // cnat
  'cnat_translation_update',
  'cnat_translation_del',
  'cnat_translation_dump',
  'cnat_set_snat_addresses_v2',
  'cnat_snat_addresses_dump',

  // WireGuard
  'wireguard_interface_create',
  'wireguard_interface_delete',
  'wireguard_interface_dump',
  'wireguard_peer_add',
  'wireguard_peer_remove',
  'wireguard_peers_dump',
  'want_wireguard_peer_events',

  // STN and punt
  'stn_add_del_rule',
  'stn_rules_dump',
  'punt_socket_register',
  'punt_socket_deregister',
  'punt_socket_dump',
  'add_del_ip_punt_redirect_v2',
  'ip_punt_redirect_v2_dump',
] as const;
