import { test } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { kernelBackend, kernelMissing } from '#test/integration/support/linux-kernel.ts';
import { linuxHostSuite } from './host-suite.ts';

linuxHostSuite('simulated', async () => {
  const host = new SimLinux(seededRandom(1));
  let count = 0;
  return {
    host,
    async makeNamespace() {
      const path = `/run/netns/test${count++}`;
      host.addNamespace(path);
      return path;
    },
    removeNamespace: async (path) => host.removeNamespace(path),
    makeTap: async (namespace, name) => void host.openTap(name, namespace),
    close: async () => undefined,
  };
});

const missing = await kernelMissing();
if (missing === undefined) linuxHostSuite('the kernel of this machine', kernelBackend);
else test('LinuxHost: the kernel of this machine', { skip: missing }, () => undefined);
