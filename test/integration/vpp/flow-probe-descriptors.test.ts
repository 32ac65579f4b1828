/** Probes of flows of a real VPP. */
import { flowProbeSuite } from '#test/descriptors/compliance/flow-probe-suite.ts';
import { declareUnless, withoutIsolatedVpp } from '#test/support/requirements.ts';
import { realVpp } from '../support/vpp-backend.ts';

await declareUnless(withoutIsolatedVpp(), 'probes of flows of a real VPP', () =>
  flowProbeSuite(realVpp),
);
