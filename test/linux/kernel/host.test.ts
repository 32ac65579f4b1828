import { seededRandom } from '#infra/clock/manual.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
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
