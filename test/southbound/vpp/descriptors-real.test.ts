/** The descriptors against a real VPP. */
import { test } from 'node:test';
import { complianceSuite } from '../compliance/suite.ts';
import { vppExamples } from '../compliance/vpp-examples.ts';
import { hostLinks, realVpp } from './backends.ts';
import { noVppBecause } from './vpp-process.ts';

const reason = noVppBecause();
if (reason === undefined) complianceSuite(realVpp, vppExamples(hostLinks));
else test.skip(`descriptors against a real VPP: ${reason}`);
