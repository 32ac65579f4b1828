import { restartSuite } from './compliance/restart-suite.ts';
import { onSimulator } from './simulated/suite.ts';

onSimulator(restartSuite);
