import { externalSuite } from '#test/services/compliance/external-suite.ts';
import { onRealNodesWithSockets } from '../support/service-suite.ts';

onRealNodesWithSockets(externalSuite);
