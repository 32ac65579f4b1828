import { clusterIpSuite } from './compliance/cluster-ip-suite.ts';
import { ipv6EdgeSuite } from './compliance/ipv6-edge-suite.ts';
import { ipv6Suite } from './compliance/ipv6-suite.ts';
import { nodePortAtSocketSuite } from './compliance/node-port-at-socket-suite.ts';
import { onSimulatorWithSockets } from './simulated/suite.ts';

for (const family of [4, 6] as const)
  for (const suite of [clusterIpSuite, nodePortAtSocketSuite])
    onSimulatorWithSockets(suite, family);

for (const suite of [ipv6Suite, ipv6EdgeSuite]) onSimulatorWithSockets(suite, 6);
