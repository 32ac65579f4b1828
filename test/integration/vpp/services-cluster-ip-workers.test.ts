import { clusterIpSuite } from '#test/services/compliance/cluster-ip-suite.ts';
import { onRealNodes } from '../support/service-suite.ts';

onRealNodes(clusterIpSuite, 2);
