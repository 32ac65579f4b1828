import { ipv6EdgeSuite } from '#test/services/compliance/ipv6-edge-suite.ts';
import { onRealNodesWithSockets } from '../support/service-suite.ts';

onRealNodesWithSockets(ipv6EdgeSuite, 6);
