import { changeSuite } from '#test/services/compliance/change-suite.ts';
import { clusterIpSuite } from '#test/services/compliance/cluster-ip-suite.ts';
import { ipv6Suite } from '#test/services/compliance/ipv6-suite.ts';
import { nodePortAtSocketSuite } from '#test/services/compliance/node-port-at-socket-suite.ts';
import { onRealNodesWithSockets } from '../support/service-suite.ts';

for (const suite of [ipv6Suite, changeSuite, clusterIpSuite, nodePortAtSocketSuite])
  onRealNodesWithSockets(suite, 6);
