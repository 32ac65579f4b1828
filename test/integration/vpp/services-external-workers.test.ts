import { externalSuite } from '#test/services/compliance/external-suite.ts';
import { onRealNodes } from '../support/service-suite.ts';

onRealNodes(externalSuite, 2);
