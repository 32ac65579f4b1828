/** The descriptors of Linux against the simulated kernel. */
import { linuxExamples } from '#test/descriptors/compliance/linux-examples.ts';
import {
  repeatedResyncSuite,
  sharingLinuxValues,
} from '#test/descriptors/compliance/repeated-resync-suite.ts';
import { complianceSuite } from '#test/descriptors/compliance/suite.ts';
import { EXISTING_LINK, simulatedLinux, simulatedSpaces, withHostLinkStub } from './backends.ts';

complianceSuite(
  async () => withHostLinkStub(await simulatedLinux()),
  linuxExamples(simulatedSpaces.pods, EXISTING_LINK),
);

repeatedResyncSuite(simulatedLinux, sharingLinuxValues);
