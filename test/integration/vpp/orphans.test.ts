/** Orphans in a real VPP. */
import { writtenFamilies } from '#test/descriptors/transitions/families/vpp.ts';
import { orphanSuite } from '#test/descriptors/transitions/orphans.ts';
import { declareUnless, withoutIsolatedVpp } from '#test/support/requirements.ts';
import { withHostLinkNotifications } from '#test/vpp/descriptors/backends.ts';
import { vppOrphans } from '#test/vpp/descriptors/orphans.ts';
import { realVpp } from '../support/vpp-backend.ts';

await declareUnless(withoutIsolatedVpp(), 'orphans in a real VPP', () =>
  orphanSuite(async () => {
    const backend = withHostLinkNotifications(await realVpp());
    return { backend, ...vppOrphans(backend, 10) };
  }, writtenFamilies),
);
