/**
 * Keys of the original's configuration files that this agent does not have. They have no effect, and
 * the log says why. None of them protects anything: an operator who sets such a key relies on it.
 */

export interface OriginalKey {
  /** Why the key has no effect, or what to use instead. */
  readonly reason: string;
}

/** By file and key. */
export const originalKeys: Readonly<Record<string, Readonly<Record<string, OriginalKey>>>> = {
  'bolt.conf': {
    'filter-duplicate-notifications': { reason: 'the local database has no watchers' },
  },
  // keys of earlier releases of Contiv/VPP
  'contiv.conf': {
    'ipamconfig.podnetworkprefixlen': {
      reason: 'its name is ipamConfig.podSubnetOneNodePrefixLen now',
    },
    'ipamconfig.vpphostnetworkprefixlen': {
      reason: 'its name is ipamConfig.vppHostSubnetOneNodePrefixLen now',
    },
    'ipamconfig.podifipcidr': { reason: 'links to pods need no addresses of their own' },
    usel2interconnect: { reason: 'set nodeToNodeTransport to nooverlay instead of true' },
    usenooverlay: { reason: 'set nodeToNodeTransport to nooverlay instead of true' },
    tcpstackdisabled: { reason: 'pods always use the network stack of Linux' },
    cleanupidlenatsessions: { reason: 'it is a key of service.conf now' },
    tcpnatsessiontimeout: { reason: 'it is a key of service.conf now' },
    othernatsessiontimeout: { reason: 'it is a key of service.conf now' },
    servicelocalendpointweight: { reason: 'it is a key of service.conf now' },
    disablenatvirtualreassembly: { reason: 'it is a key of service.conf now' },
  },
  'etcd.conf': {
    'allow-delayed-start': { reason: 'the agent always starts without etcd, from its mirror' },
    'auto-compact': { reason: 'the agent does not compact the etcd of the cluster' },
    'expand-env-variables': { reason: 'values in etcd are used as they are' },
    'resync-after-reconnect': { reason: 'a watch resumes at its revision, or a resync follows' },
    'session-ttl': { reason: 'the agent has no leases in etcd' },
  },
  'grpc.conf': {
    'extended-logging': { reason: 'set the level of the logger cni to debug' },
    'prometheus-metrics': { reason: 'the metrics of the event loop include CNI requests' },
  },
  'grpc2.conf': {
    'extended-logging': { reason: 'set the level of the logger grpc2 to debug' },
    'prometheus-metrics': {
      reason: 'the metrics of the event loop include external configuration',
    },
  },
  'http.conf': {
    idletimeout: { reason: 'the server has its own limits' },
    maxheaderbytes: { reason: 'the server has its own limits' },
    'password-hash-cost': { reason: 'a hash contains its cost' },
    readheadertimeout: { reason: 'the server has its own limits' },
    readtimeout: { reason: 'the server has its own limits' },
    writetimeout: { reason: 'the server has its own limits' },
  },
  'kvscheduler.conf': {
    'enable-txn-simulation': { reason: 'every record contains the plan' },
    'record-transaction-history': { reason: 'the memory of the records is bounded' },
  },
  'logs.conf': {
    hooks: {
      reason:
        'the log is written to the standard output only, from where a log collector of the node can send it to syslog, Logstash or Fluentd',
    },
  },
};
