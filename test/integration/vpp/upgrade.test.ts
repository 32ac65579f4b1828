/** Upgrade of a vswitch in two containers, which kubelet restarts one by one. */
import { upgradeSuite } from '../support/upgrade-suite.ts';

upgradeSuite('two containers');
