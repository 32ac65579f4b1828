/**
 * Whatever is changed past the agent in VPP, in a pod or on the host: a downstream resync ends with packets
 * that arrive, and before and after it the packet trace agrees with real packets.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { selectCases } from '#test/support/part-of-cases.ts';
import { runsAllCases, withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import type { Links } from '../support/agent.ts';
import { linuxChanges } from '../support/manual-changes/linux-changes.ts';
import type { ManualChange } from '../support/manual-changes/manual-change.ts';
import { ManualChangeTestbed } from '../support/manual-changes/testbed.ts';
import { vppChanges } from '../support/manual-changes/vpp-changes.ts';

const modes: readonly Links[] = ['TAP', 'VETH'];

/** VETH differs from TAP in its interfaces and links; other changes of it run with VPP_CASES=all. */
function changesFor(links: Links): readonly ManualChange[] {
  return [...vppChanges, ...linuxChanges]
    .filter((one) => (one.links ?? links) === links)
    .filter(({ title }) => links === 'TAP' || runsAllCases || /interface|link/.test(title));
}

describe('manual changes', { concurrency: modes.length, timeout: 240_000 }, () => {
  for (const links of modes) {
    const skip = withoutNodes() || (links === 'TAP' && withoutVhostNet());
    describe(`with ${links}`, { skip, concurrency: 1 }, () => {
      let testbed: ManualChangeTestbed | undefined;
      after(() => testbed?.[Symbol.asyncDispose]());

      for (const { title, isUntraced, make, undo } of selectCases(changesFor(links)))
        test(title, async () => {
          testbed ??= await ManualChangeTestbed.create(links);
          try {
            await make(testbed);
            if (isUntraced !== true) await testbed.compare();
            await testbed.resync();
            const failing = await testbed.compare();
            if (undo !== undefined) {
              assert.notDeepEqual(failing, []);
              await undo(testbed);
              assert.deepEqual(await testbed.compare(), []);
            } else {
              assert.deepEqual(failing, []);
              await testbed.transfers();
            }
          } catch (error) {
            // the next change finds a node in order
            await testbed[Symbol.asyncDispose]();
            testbed = undefined;
            throw error;
          }
        });
    });
  }
});
