import { changeSuite } from '#test/services/compliance/change-suite.ts';
import { onRealNodesWithSockets } from '../support/service-suite.ts';

onRealNodesWithSockets(changeSuite);
