/** The descriptors of Linux against the simulated kernel, and against that of this machine. */
import { test } from 'node:test';
import { linuxExamples } from '#test/descriptors/compliance/linux-examples.ts';
import { complianceSuite } from '#test/descriptors/compliance/suite.ts';
import { kernelMissing } from '#test/integration/support/linux-kernel.ts';
import {
  backendOn,
  EXISTING_LINK,
  kernelMachine,
  simulatedLinux,
  simulatedSpaces,
  withHostLinkStub,
} from './backends.ts';

complianceSuite(
  async () => withHostLinkStub(await simulatedLinux()),
  linuxExamples(simulatedSpaces.pods, EXISTING_LINK),
);

const missing = await kernelMissing();
if (missing === undefined) {
  const machine = await kernelMachine();
  complianceSuite(
    async () => withHostLinkStub(await backendOn(machine)),
    linuxExamples(machine.spaces.pods, EXISTING_LINK),
  );
} else {
  test.skip(`descriptors on the kernel of this machine: ${missing}`);
}
