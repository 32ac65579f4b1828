import { clusterIpSuite } from './compliance/cluster-ip-suite.ts';
import { onSimulator } from './simulated/suite.ts';

onSimulator(clusterIpSuite);
