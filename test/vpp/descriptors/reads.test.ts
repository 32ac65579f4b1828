/** Reads that change nothing, on the simulated VPP. */
import { readsSuite } from '#test/descriptors/compliance/reads-suite.ts';
import { simulatedVpp } from './backends.ts';

readsSuite(simulatedVpp);
