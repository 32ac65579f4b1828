import { exemptPodSuite } from '#test/services/compliance/exempt-pod-suite.ts';
import { onRealNodesWithSockets } from '../support/service-suite.ts';

onRealNodesWithSockets(exemptPodSuite);
