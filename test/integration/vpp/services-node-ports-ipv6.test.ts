import { nodePortAtSocketSuite } from '#test/services/compliance/node-port-at-socket-suite.ts';
import { onRealNodesWithSockets } from '../support/service-suite.ts';

onRealNodesWithSockets(nodePortAtSocketSuite, 6);
