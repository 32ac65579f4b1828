import { clusterIpSuite } from '#test/services/compliance/cluster-ip-suite.ts';
import { onRealNodesWithSockets } from '../support/service-suite.ts';

onRealNodesWithSockets(clusterIpSuite, 6);
