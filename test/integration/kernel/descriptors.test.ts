/** The descriptors of Linux against the kernel of this machine. */
import { linuxExamples } from '#test/descriptors/compliance/linux-examples.ts';
import {
  repeatedResyncSuite,
  sharingLinuxValues,
} from '#test/descriptors/compliance/repeated-resync-suite.ts';
import { complianceSuite } from '#test/descriptors/compliance/suite.ts';
import { backendOn, EXISTING_LINK, withHostLinkStub } from '#test/linux/descriptors/backends.ts';
import { declareUnless, withoutKernel } from '#test/support/requirements.ts';
import { kernelMachine } from '../support/linux-kernel.ts';

await declareUnless(
  withoutKernel(),
  'Linux descriptors on the kernel of this machine',
  async () => {
    const machine = await kernelMachine();
    complianceSuite(
      async () => withHostLinkStub(await backendOn(machine)),
      linuxExamples(machine.spaces.pods, EXISTING_LINK),
    );
    // The first suite removes its namespaces.
    repeatedResyncSuite(async () => backendOn(await kernelMachine()), sharingLinuxValues);
  },
);
