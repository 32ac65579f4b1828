/** The descriptors against the simulated VPP with the messages of the older releases. */
import { test } from 'node:test';
import { bundledDefinitions } from '#southbound/vpp/binapi/bundled.ts';
import { Catalogue } from '#southbound/vpp/binapi/catalogue.ts';
import { mergeDefinitions, readDefinitions } from '#southbound/vpp/binapi/definitions.ts';
import { selectDefinitions } from '#southbound/vpp/binapi/gen/select.ts';
import { sessionMessages, usedMessages } from '#southbound/vpp/binapi/used.ts';
import { missing, shared } from '../binapi/vectors.ts';
import { complianceSuite } from '../compliance/suite.ts';
import { vppExamples } from '../compliance/vpp-examples.ts';
import { writtenFamilies } from '../transitions/families/vpp.ts';
import { pairSuite } from '../transitions/pairs.ts';
import { hostLinks, simulatedVpp, tellingOfLinks } from './backends.ts';

for (const release of ['v24.10', 'v25.10']) {
  const folder = `${shared}/vpp-api/${release}`;
  const reason = missing(folder);
  if (reason) {
    test.skip(`descriptors against the definitions of ${release}: ${reason}`);
    continue;
  }
  // what a release tells nothing of (the module punt) is taken for what it is today
  const all = mergeDefinitions([bundledDefinitions, await readDefinitions(folder)]);
  const catalogue = new Catalogue(selectDefinitions(all, [...sessionMessages, ...usedMessages]));
  complianceSuite(() => simulatedVpp(catalogue), vppExamples(hostLinks), release);
  pairSuite(async () => tellingOfLinks(await simulatedVpp(catalogue)), writtenFamilies, {
    release,
  });
}
