import { externalSuite } from '#test/services/compliance/external-suite.ts';
import { nodePortAtSocketSuite } from '#test/services/compliance/node-port-at-socket-suite.ts';
import { onRealNodesWithSockets } from '../support/service-suite.ts';

onRealNodesWithSockets(externalSuite);
onRealNodesWithSockets(nodePortAtSocketSuite);
