/** Orphans in the kernel of this machine. */
import { orphanSuite } from '#test/descriptors/transitions/orphans.ts';
import { backendOn } from '#test/linux/descriptors/backends.ts';
import { familiesWithOrphans, linuxOrphans } from '#test/linux/descriptors/orphans.ts';
import { declareUnless, withoutKernel } from '#test/support/requirements.ts';
import { kernelMachine } from '../support/linux-kernel.ts';

await declareUnless(withoutKernel(), 'orphans in the kernel of this machine', async () => {
  const machine = await kernelMachine();
  orphanSuite(async () => {
    const backend = await backendOn(machine);
    return { backend, ...linuxOrphans(backend, 5) };
  }, familiesWithOrphans(machine.spaces));
});
