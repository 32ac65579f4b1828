import { restartSuite } from '#test/services/compliance/restart-suite.ts';
import { onRealNodesWithSockets } from '../support/service-suite.ts';

onRealNodesWithSockets(restartSuite);
