import { clusterIpSuite } from './compliance/cluster-ip-suite.ts';
import { ipv6Suite } from './compliance/ipv6-suite.ts';
import { nodePortAtSocketSuite } from './compliance/node-port-at-socket-suite.ts';
import { onSimulatorWithSockets } from './simulated/suite.ts';

for (const family of [4, 6] as const)
  for (const suite of [clusterIpSuite, nodePortAtSocketSuite])
    onSimulatorWithSockets(suite, family);

onSimulatorWithSockets(ipv6Suite, 6);
