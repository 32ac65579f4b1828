import { changeSuite } from '#test/services/compliance/change-suite.ts';
import { onRealNodes } from '../support/service-suite.ts';

onRealNodes(changeSuite, 0);
