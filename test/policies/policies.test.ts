import { onSimulator } from '../services/simulated/suite.ts';
import { policySuite } from './compliance/policy-suite.ts';

onSimulator(policySuite);
