import { policySuite } from '#test/policies/compliance/policy-suite.ts';
import { onRealNodes } from '../support/service-suite.ts';

onRealNodes(policySuite, 2);
