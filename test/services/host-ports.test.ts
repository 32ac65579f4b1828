import { hostPortSuite } from './compliance/host-port-suite.ts';
import { onSimulator } from './simulated/suite.ts';

onSimulator(hostPortSuite);
