import { policyChangeSuite } from '#test/policies/compliance/change-suite.ts';
import { onRealNodes } from '../support/service-suite.ts';

onRealNodes(policyChangeSuite, 0);
