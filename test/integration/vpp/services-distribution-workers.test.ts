import { distributionSuite } from '#test/services/compliance/distribution-suite.ts';
import { onRealNodes } from '../support/service-suite.ts';

onRealNodes(distributionSuite, 2);
