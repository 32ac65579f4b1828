/** The descriptors against the simulated VPP with the messages of the older releases. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { complianceSuite } from '#test/descriptors/compliance/suite.ts';
import { vppExamples } from '#test/descriptors/compliance/vpp-examples.ts';
import { writtenFamilies } from '#test/descriptors/transitions/families/vpp.ts';
import { pairSuite } from '#test/descriptors/transitions/pairs.ts';
import { selectCases } from '#test/support/part-of-cases.ts';
import { declareUnless, withoutShared } from '#test/support/requirements.ts';
import { bundledDefinitions } from '#vpp/binapi/bundled-definitions.ts';
import { Catalog } from '#vpp/binapi/catalog.ts';
import { mergeDefinitions, readDefinitions } from '#vpp/binapi/definitions.ts';
import { selectDefinitions } from '#vpp/binapi/gen/select.ts';
import { sessionMessages, usedMessages } from '#vpp/binapi/used-messages.ts';
import { vppPort } from '#vpp/vpp-port.ts';
import { sharedFolder } from '../binapi/vectors.ts';
import { hostLinks, simulatedVpp, withHostLinkNotifications } from './backends.ts';

const releases = ['v24.10', 'v25.10'];
const cases = selectCases(
  writtenFamilies.flatMap((family) => releases.map((release) => ({ release, family }))),
);

/** A part has the cases of one release. */
for (const [release, own] of Map.groupBy(cases, (one) => one.release)) {
  const folder = `${sharedFolder}/vpp-api/${release}`;
  const title = `descriptors with the messages of ${release}`;
  await declareUnless(withoutShared(`vpp-api/${release}`), title, async () => {
    const defined = await readDefinitions(folder);
    // messages that a release lacks are those of the bundled release
    const all = mergeDefinitions([bundledDefinitions, defined]);
    const catalog = new Catalog(selectDefinitions(all, [...sessionMessages, ...usedMessages]));
    complianceSuite(() => simulatedVpp(catalog), vppExamples(hostLinks), release);
    test(`${release} reports where it segments packets, from v25.10 on`, async () => {
      const messages = usedMessages.filter((name) => name in defined.services);
      const { client, stop } = await simulatedVpp(
        new Catalog(selectDefinitions(all, [...sessionMessages, ...messages])),
      );
      const { isReported } = await vppPort(client).segmentation();
      assert.equal(isReported, release !== 'v24.10');
      await stop();
    });
    const families = own.map(({ family }) => family);
    pairSuite(async () => withHostLinkNotifications(await simulatedVpp(catalog)), families, {
      release,
    });
  });
}
