import { hostNicSuite } from '../support/host-nic-suite.ts';

hostNicSuite('with an overlay', {});
