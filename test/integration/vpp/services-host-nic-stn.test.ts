import { hostNicSuite } from '../support/host-nic-suite.ts';

hostNicSuite('with STN', { stn: true }, { restart: false });
