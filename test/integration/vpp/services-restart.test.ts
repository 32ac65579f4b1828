import { restartSuite } from '#test/services/compliance/restart-suite.ts';
import { onRealNodes } from '../support/service-suite.ts';

onRealNodes(restartSuite, 0);
