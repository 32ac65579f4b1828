/** LinuxHost on the kernel of this machine. */
import { linuxHostSuite } from '#test/linux/kernel/host-suite.ts';
import { declareUnless, withoutKernel } from '#test/support/requirements.ts';
import { kernelBackend } from '../support/linux-kernel.ts';

await declareUnless(withoutKernel(), 'LinuxHost on the kernel of this machine', () =>
  linuxHostSuite('the kernel of this machine', kernelBackend),
);
