import { hostPortSuite } from '#test/services/compliance/host-port-suite.ts';
import { onRealNodes } from '../support/service-suite.ts';

onRealNodes(hostPortSuite, 2);
