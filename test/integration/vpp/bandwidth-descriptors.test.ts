/** Bandwidth limits of a real VPP. */
import { bandwidthSuite } from '#test/descriptors/compliance/bandwidth-suite.ts';
import { bandwidthExamples } from '#test/descriptors/compliance/interface-examples.ts';
import { complianceSuite } from '#test/descriptors/compliance/suite.ts';
import { declareUnless, withoutIsolatedVpp } from '#test/support/requirements.ts';
import { realVpp } from '../support/vpp-backend.ts';

await declareUnless(withoutIsolatedVpp(), 'bandwidth limits of a real VPP', () => {
  complianceSuite(realVpp, bandwidthExamples);
  bandwidthSuite(realVpp);
});
