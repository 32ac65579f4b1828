/** Upgrade of a vswitch in one container, as in Contiv/VPP. */
import { upgradeSuite } from '../support/upgrade-suite.ts';

upgradeSuite('one container');
