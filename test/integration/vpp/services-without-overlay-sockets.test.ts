import { clusterIpSuite } from '#test/services/compliance/cluster-ip-suite.ts';
import { withoutOverlay } from '#test/services/compliance/without-overlay.ts';
import { onRealNodesWithSockets } from '../support/service-suite.ts';

onRealNodesWithSockets((start) => clusterIpSuite(withoutOverlay(start)));
