import { externalSuite } from './compliance/external-suite.ts';
import { onSimulator } from './simulated/suite.ts';

onSimulator(externalSuite);
