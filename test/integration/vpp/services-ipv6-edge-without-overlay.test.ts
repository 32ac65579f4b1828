import { ipv6EdgeSuite } from '#test/services/compliance/ipv6-edge-suite.ts';
import { withoutOverlay } from '#test/services/compliance/without-overlay.ts';
import { onRealNodesWithSockets } from '../support/service-suite.ts';

onRealNodesWithSockets((start) => ipv6EdgeSuite(withoutOverlay(start), false), 6);
