/** Values of a real VPP from any of their configurations to any other, and many at once. */
import { vppFamilies, writtenFamilies } from '#test/descriptors/transitions/families/vpp.ts';
import { pairSuite } from '#test/descriptors/transitions/pairs.ts';
import { refusalSuite } from '#test/descriptors/transitions/refusals.ts';
import { poolOf, sequenceSuite } from '#test/descriptors/transitions/sequences.ts';
import { selectCases } from '#test/support/part-of-cases.ts';
import { declareUnless, withoutIsolatedVpp, withoutVhostNet } from '#test/support/requirements.ts';
import { withHostLinkNotifications } from '#test/vpp/descriptors/backends.ts';
import { realVpp } from '../support/vpp-backend.ts';

await declareUnless(withoutIsolatedVpp(), 'changes of values of a real VPP', () => {
  const start = async () => withHostLinkNotifications(await realVpp());
  pairSuite(start, selectCases(vppFamilies));
  refusalSuite(start, vppFamilies, {
    file: 'test/integration/vpp/transitions.test.ts',
    runs: 8,
  });
  const possible = writtenFamilies.filter((each) => !(each.requiresTaps && withoutVhostNet()));
  sequenceSuite(start, poolOf(possible), {
    file: 'test/integration/vpp/transitions.test.ts',
    runs: 15,
    steps: 12,
  });
});
