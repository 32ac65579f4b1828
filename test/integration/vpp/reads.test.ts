/** Reads that change nothing, on a real VPP. */
import { readsSuite } from '#test/descriptors/compliance/reads-suite.ts';
import { declareUnless, withoutIsolatedVpp } from '#test/support/requirements.ts';
import { realVpp } from '../support/vpp-backend.ts';

await declareUnless(withoutIsolatedVpp(), 'reads, real VPP', () => readsSuite(realVpp));
