/** Leftovers in a real VPP. */
import { test } from 'node:test';
import { writtenFamilies } from '#test/descriptors/transitions/families/vpp.ts';
import { orphanSuite } from '#test/descriptors/transitions/orphans.ts';
import { realVpp, withHostLinkNotifications } from '#test/vpp/descriptors/backends.ts';
import { vppLeftovers } from '#test/vpp/descriptors/orphans.ts';
import { noVppBecause } from '../support/vpp-descriptors.ts';

const reason = noVppBecause();
if (reason === undefined)
  orphanSuite(async () => {
    const backend = withHostLinkNotifications(await realVpp());
    return { backend, ...vppLeftovers(backend, 10) };
  }, writtenFamilies);
else test.skip(`leftovers in a real VPP: ${reason}`);
