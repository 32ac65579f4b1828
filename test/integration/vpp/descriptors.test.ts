/** The descriptors against a real VPP. */
import {
  repeatedResyncSuite,
  sharingVppValues,
} from '#test/descriptors/compliance/repeated-resync-suite.ts';
import { complianceSuite } from '#test/descriptors/compliance/suite.ts';
import { vppExamples } from '#test/descriptors/compliance/vpp-examples.ts';
import { selectCases } from '#test/support/part-of-cases.ts';
import { declareUnless, withoutIsolatedVpp } from '#test/support/requirements.ts';
import { hostLinks } from '#test/vpp/descriptors/backends.ts';
import { realVpp } from '../support/vpp-backend.ts';

await declareUnless(withoutIsolatedVpp(), 'descriptors against a real VPP', () => {
  complianceSuite(realVpp, selectCases(vppExamples(hostLinks)));
  repeatedResyncSuite(realVpp, sharingVppValues);
});
