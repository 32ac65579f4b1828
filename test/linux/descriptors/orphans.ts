/** Orphans of an interrupted agent and objects of other programs in the kernel, for the orphan suite. */
import { linuxFamilies } from '#test/descriptors/transitions/families/linux.ts';
import type { OrphanOptions } from '#test/descriptors/transitions/orphans.ts';
import type { LinuxBackend, LinuxSpaces } from './backends.ts';

const MARK = '/vnf-agent/node1/begun/peer';

export function linuxOrphans({ plain, pods }: LinuxBackend, kills: number): OrphanOptions {
  const pod = pods[0];
  const pair = (a: string, b: string) =>
    plain.createVeth({ namespace: undefined, name: a }, { namespace: pod, name: b });
  return {
    kills,
    /** A pair with addresses, the routes that come of them, and neighbors, on both sides. */
    async others() {
      await pair('theirs0', 'theirs1');
      await plain.setLink(undefined, 'theirs0', { up: true, alias: 'of another program' });
      await plain.setLink(pod, 'theirs1', { up: true, alias: '/vnf-agent/node2/inside/outside' });
      await plain.addAddress(undefined, 'theirs0', '172.30.0.1/24');
      await plain.addAddress(pod, 'theirs1', '172.30.0.2/24');
      const mac = '02:00:00:00:00:78';
      for (const [namespace, device] of [
        [undefined, 'theirs0'],
        [pod, 'theirs1'],
      ] as const) {
        await plain.setNeighbor(namespace, { address: '172.30.0.9', mac, device });
        // with the agent's protocol number, but on an unmanaged link
        const route = { destination: '172.31.0.0/16', scope: 'link' as const, metric: 0 };
        await plain.addRoute(namespace, { ...route, device });
      }
    },
    moreOfOthers: async () => undefined,
    begun: {
      'a pair of which one end is marked': async () => {
        await pair('begun', 'eth0');
        await plain.setLink(undefined, 'begun', { alias: MARK });
      },
      'a pair in its place': async () => {
        await pair('begun', 'eth0');
        await plain.setLink(undefined, 'begun', { alias: MARK, up: true });
        await plain.setLink(pod, 'eth0', { alias: '/vnf-agent/node1/peer/begun', up: true });
        await plain.addAddress(pod, 'eth0', '10.99.0.2/24');
      },
    },
  };
}

export function familiesWithOrphans({ pods }: LinuxSpaces) {
  return linuxFamilies(pods).filter(({ isUnmarked }) => isUnmarked !== true);
}
