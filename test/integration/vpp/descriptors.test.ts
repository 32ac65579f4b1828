/** The descriptors against a real VPP. */
import { test } from 'node:test';
import { complianceSuite } from '#test/descriptors/compliance/suite.ts';
import { vppExamples } from '#test/descriptors/compliance/vpp-examples.ts';
import { hostLinks, realVpp } from '#test/vpp/descriptors/backends.ts';
import { noVppBecause } from '../support/vpp-descriptors.ts';

const reason = noVppBecause();
if (reason === undefined) complianceSuite(realVpp, vppExamples(hostLinks));
else test.skip(`descriptors against a real VPP: ${reason}`);
