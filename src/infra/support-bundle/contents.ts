/** The contents of a support bundle besides configuration and recordings. */

/** Files of the archive, and the routes of the agent that they are read from. */
export const documents: Readonly<Record<string, string>> = {
  'status/readiness.json': '/readiness',
  'status/liveness.json': '/liveness',
  'status/metrics.txt': '/metrics',
  'status/interfaces.txt': '/stats',
  'logs/agent.log': '/log/recent',
  'logs/levels.json': '/log/list',
  'controller/event-history.json': '/controller/event-history',
  'controller/event-history.txt': '/controller/event-history?format=text',
  'controller/verification.json': '/controller/verification',
  'scheduler/status.json': '/scheduler/status',
  'scheduler/txn-history.json': '/scheduler/txn-history',
  'scheduler/txn-history.txt': '/scheduler/txn-history?format=text',
  'scheduler/graph.json': '/scheduler/graph-snapshot',
  'scheduler/graph.dot': '/scheduler/graph?format=dot',
  'scheduler/stats.json': '/scheduler/stats',
  'scheduler/configurator.json': '/stats/configurator',
  'vpp/api.json': '/govppmux/stats',
  'vpp/telemetry.json': '/vpp/telemetry',
  'node/linux-interfaces.json': '/dump/linux/v2/interfaces',
  'node/linux-routes.json': '/dump/linux/v2/routes',
  'node/linux-counters.json': '/stats/linux/interfaces',
  'node/ipam.json': '/contiv/v1/ipam',
  'node/addresses.json': '/contiv/v1/ipam/allocations',
  'node/services.json': '/contiv/v1/services',
  'node/policies.json': '/contiv/v1/policy/pods',
  'node/desired-state.json': '/trace/node?view=NB',
  'node/actual-state.json': '/trace/node?view=SB',
};

/**
 * Commands of VPP. Each stops VPP while it runs, so those are left out whose time grows with the traffic:
 * sessions in detail, and the contents of hash tables.
 */
export const vppCommands: readonly string[] = [
  'show version verbose',
  'show plugins',
  'show threads',
  'show runtime',
  'show errors',
  'show logging',
  'show memory main-heap',
  'show physmem',
  'show buffers',
  'show hardware-interfaces',
  'show interface',
  'show interface address',
  'show interface rx-placement',
  'show tap',
  'show bridge-domain',
  'show l2fib verbose',
  'show vxlan tunnel raw',
  // those of the interfaces would show the private keys
  'show wireguard peer',
  'show ip table',
  'show ip fib',
  'show ip6 fib',
  'show ip neighbors',
  'show ip punt redirect',
  'show sr localsids',
  'show sr policies',
  'show dhcp client',
  'show nat44 summary',
  'show nat44 interfaces',
  'show nat44 addresses',
  'show nat44 static mappings',
  'show nat44 hash tables',
  'show nat timeouts',
  'show nat workers',
  'show acl-plugin acl',
  'show acl-plugin interface',
  'show acl-plugin tables',
  'show acl-plugin sessions',
];

/** Name of the file with the output of a command. */
export function commandFile(command: string): string {
  return `vpp/${command.replace(/^show /, '').replaceAll(/\W+/g, '-')}.txt`;
}

/** Logs of programs beside the agent, which may be absent. Their end is kept. */
export const logFiles: readonly string[] = [
  '/tmp/contiv-cni.log',
  '/var/run/contiv/cni.log',
  '/var/log/vpp/vpp.log',
];

/** Logs of containers, where kubelet keeps them: those of the vswitch pod. */
export const CONTAINER_LOGS = '/var/log/containers/contiv-vswitch*.log';

/** Limit of all recordings together. */
export const RECORDING_BYTES = 1 << 30;
