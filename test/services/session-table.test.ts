import { sessionTableSuite } from './compliance/session-table-suite.ts';
import { onSimulator } from './simulated/suite.ts';

onSimulator(sessionTableSuite);
