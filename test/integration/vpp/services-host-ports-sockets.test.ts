import { hostPortSuite } from '#test/services/compliance/host-port-suite.ts';
import { onRealNodesWithSockets } from '../support/service-suite.ts';

onRealNodesWithSockets(hostPortSuite);
