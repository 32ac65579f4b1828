/** Bandwidth limits of a simulated VPP. */
import { bandwidthSuite } from '#test/descriptors/compliance/bandwidth-suite.ts';
import { simulatedVpp } from './backends.ts';

bandwidthSuite(() => simulatedVpp());
