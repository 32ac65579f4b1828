/** Orphans in a simulated VPP. */
import { writtenFamilies } from '#test/descriptors/transitions/families/vpp.ts';
import { orphanSuite } from '#test/descriptors/transitions/orphans.ts';
import { simulatedVpp, withHostLinkNotifications } from './backends.ts';
import { vppOrphans } from './orphans.ts';

orphanSuite(async () => {
  const backend = withHostLinkNotifications(await simulatedVpp());
  return { backend, ...vppOrphans(backend, 40) };
}, writtenFamilies);
