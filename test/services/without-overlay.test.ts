import { clusterIpSuite } from './compliance/cluster-ip-suite.ts';
import { withoutOverlay } from './compliance/without-overlay.ts';
import { onSimulator } from './simulated/suite.ts';

onSimulator((start) => clusterIpSuite(withoutOverlay(start)));
