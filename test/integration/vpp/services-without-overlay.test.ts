import { clusterIpSuite } from '#test/services/compliance/cluster-ip-suite.ts';
import { withoutOverlay } from '#test/services/compliance/without-overlay.ts';
import { onRealNodes } from '../support/service-suite.ts';

onRealNodes((start) => clusterIpSuite(withoutOverlay(start)), 0);
