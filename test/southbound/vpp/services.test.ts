/** NAT44, ACLs and redirects of a simulated VPP. */
import { servicesSuite } from '../compliance/services-suite.ts';
import { simulatedVpp } from './backends.ts';

servicesSuite(() => simulatedVpp());
