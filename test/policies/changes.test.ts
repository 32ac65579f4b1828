import { onSimulator } from '../services/simulated/suite.ts';
import { policyChangeSuite } from './compliance/change-suite.ts';

onSimulator(policyChangeSuite);
