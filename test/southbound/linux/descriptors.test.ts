/** The descriptors of Linux against the simulated kernel, and against that of this machine. */
import { test } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { SimLinux } from '#sim/linux/linux.ts';
import type { LinuxLink } from '#southbound/linux/api.ts';
import { linuxDescriptors } from '#southbound/linux/descriptors/linux-descriptors.ts';
import { FaultyHost } from '../compliance/faulty-host.ts';
import { hostLinkStub } from '../compliance/host-link-stub.ts';
import { linuxExamples } from '../compliance/linux-examples.ts';
import { type Backend, complianceSuite } from '../compliance/suite.ts';
import { VppTapStub } from '../compliance/vpp-tap-stub.ts';
import type { LinuxBackend } from '../linux-host-suite.ts';
import { kernelBackend, kernelMissing } from '../linux-kernel.ts';

const existing = 'nic0';

interface Spaces {
  readonly own: string;
  readonly pods: readonly [string, string];
}

async function backendOn(
  name: 'simulation' | 'kernel',
  linux: LinuxBackend,
  spaces: Spaces,
): Promise<Backend> {
  const { own, pods } = spaces;
  const plain = new FaultyHost(linux.host, own).host;
  const faulty = new FaultyHost(linux.host, own);
  await plain.createVeth(
    { namespace: undefined, name: existing },
    { namespace: undefined, name: 'nic1' },
  );
  await plain.setLink(undefined, existing, { up: true });
  await plain.setLink(undefined, 'nic1', { up: true });
  const taps = new VppTapStub(plain, [undefined, ...pods], (tap) => linux.makeTap(own, tap));
  return {
    name,
    ...(name === 'kernel' && { slow: true }),
    descriptors: () => [
      ...linuxDescriptors({ host: faulty.host, label: 'node1', log: silentLogger }).filter(
        (each) => each.name !== 'linux-host-link',
      ),
      taps.descriptor(),
      hostLinkStub,
    ],
    async world() {
      const states = await Promise.all([own, ...pods].map((path) => linux.host.dump(path)));
      return states.map(({ links, ...rest }) => ({ ...rest, links: links.map(comparable) }));
    },
    refuse: (n) => faulty.refuse(n),
    cut: (n) => faulty.cut(n),
    get changes() {
      return faulty.changes;
    },
    stop: () => linux.close(),
  };
}

/** Indexes are counted up; what a waiting end had from its value does not matter. */
function comparable({ index: _index, peerIndex: _peer, ...link }: LinuxLink): object {
  const waits = /^veth-[0-9a-f]{8}$/.test(link.name) || link.name.startsWith('tap-');
  return waits ? { ...link, mac: '', mtu: 0 } : link;
}

const spaces: Spaces = {
  own: '/run/netns/agent',
  pods: ['/run/netns/pod1', '/run/netns/pod2'],
};

complianceSuite(
  async () => {
    const host = new SimLinux(seededRandom(1));
    for (const path of [spaces.own, ...spaces.pods]) host.addNamespace(path);
    const linux: LinuxBackend = {
      host,
      makeNamespace: () => Promise.reject(new Error('not used')),
      removeNamespace: async (path) => host.removeNamespace(path),
      makeTap: async (namespace, name) => void host.openTap(name, namespace),
      close: async () => undefined,
    };
    return backendOn('simulation', linux, spaces);
  },
  linuxExamples(spaces.pods, existing),
);

const missing = await kernelMissing();
if (missing === undefined) {
  const linux = await kernelBackend();
  const own = await linux.makeNamespace();
  const pods = [await linux.makeNamespace(), await linux.makeNamespace()] as const;
  complianceSuite(() => backendOn('kernel', linux, { own, pods }), linuxExamples(pods, existing));
} else {
  test.skip(`descriptors on the kernel of this machine: ${missing}`);
}
