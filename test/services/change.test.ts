import { changeSuite } from './compliance/change-suite.ts';
import { onSimulator } from './simulated/suite.ts';

onSimulator(changeSuite);
