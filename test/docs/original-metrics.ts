/** Names of the metrics of the original: Contiv/VPP with vpp-agent v3.1.0, whose sources are the origin. */

const stats = [
  ...['inPackets', 'outPackets', 'inBytes', 'outBytes', 'dropPackets', 'puntPackets'],
  ...['ipv4Packets', 'ipv6Packets', 'inNobufPackets', 'inMissPackets'],
  ...['inErrorPackets', 'outErrorPackets', 'tcpNatSessions', 'otherNatSessions'],
  ...['deletedTCPNatSessions', 'deletedOtherNatSessions', 'natSessionDeleteErrors'],
];

const groups: Readonly<Record<string, readonly string[]>> = {
  ligato: ['build_info'],
  ligato_kvscheduler: [
    ...['txn_processed', 'txn_dropped', 'queue_capacity', 'queue_length', 'queue_wait_seconds'],
    ...['txn_process_duration_seconds', 'txn_duration_seconds'],
  ],
  ligato_govppmux: [
    ...['channels_created_total', 'channels', 'requests_total', 'requests', 'requests_done_total'],
    ...['requests_failed_total', 'replies_received_total', 'successful_request_duration_seconds'],
  ],
  vpp_runtime: ['calls', 'vectors', 'suspends', 'clocks', 'vectors_per_call'],
  vpp_memory: [...['objects', 'used', 'total', 'free', 'reclaimed', 'overhead', 'size', 'pages']],
  vpp_buffers: ['size', 'alloc', 'free', 'num_alloc', 'num_free'],
  vpp_nodes: ['counter'],
  vpp_interfaces: [
    ...['rx_packets', 'rx_bytes', 'rx_errors', 'tx_packets', 'tx_bytes', 'tx_errors'],
    ...['drops', 'punts', 'ip4', 'ip6', 'rx_no_buf', 'rx_miss'],
  ],
  process: [
    ...['cpu_seconds_total', 'open_fds', 'max_fds', 'virtual_memory_bytes'],
    ...['virtual_memory_max_bytes', 'resident_memory_bytes', 'start_time_seconds'],
  ],
};

/** By the path that serves them; those of Go (`go_…`) and `ligato_process_…` have an entry for all. */
export const originalMetrics: Readonly<Record<'/stats' | '/metrics', readonly string[]>> = {
  '/stats': stats,
  '/metrics': [
    ...Object.entries(groups).flatMap(([group, names]) => names.map((name) => `${group}_${name}`)),
    'ligato_process_*',
    'go_*',
  ],
};
