import { distributionSuite } from './compliance/distribution-suite.ts';
import { onSimulator } from './simulated/suite.ts';

onSimulator(distributionSuite);
