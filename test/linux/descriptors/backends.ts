/** Backends of the descriptor suites on Linux: the simulated kernel; the real one is in test/integration/support. */
import { seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import type { LinuxHost, LinuxLink } from '#linux/api.ts';
import { linuxDescriptors } from '#linux/descriptors/linux-descriptors.ts';
import { namespacePath } from '#linux/descriptors/namespaces.ts';
import type { NetNamespace } from '#models/linux/interface.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { FaultyHost } from '#test/descriptors/compliance/faulty-host.ts';
import { hostLinkStub } from '#test/descriptors/compliance/host-link-stub.ts';
import type { Backend } from '#test/descriptors/compliance/suite.ts';
import { VppTapStub } from '#test/descriptors/compliance/vpp-tap-stub.ts';

/** An unmanaged link in the agent's namespace. */
export const EXISTING_LINK = 'nic0';

export interface LinuxSpaces {
  /** Path of what the agent takes for its own namespace. */
  readonly own: string;
  /** Named each in another way: by name, by process and by file. */
  readonly pods: readonly [NetNamespace, NetNamespace, NetNamespace];
}

/** Namespaces that hold nothing, and how to get at them. */
export interface Machine {
  readonly name: 'simulation' | 'kernel';
  readonly host: LinuxHost;
  readonly spaces: LinuxSpaces;
  makeTap(namespace: string, name: string): Promise<void>;
  close(): Promise<void>;
}

export const simulatedSpaces: LinuxSpaces = {
  own: '/run/netns/agent',
  pods: [
    { type: 'NSID', reference: 'pod1' },
    { type: 'PID', reference: '4711' },
    { type: 'FD', reference: '/var/run/netns/pod3' },
  ],
};

export interface LinuxBackend extends Backend {
  /** Past the faults; its own namespace is that of the agent. */
  readonly plain: LinuxHost;
  /** Paths. */
  readonly pods: readonly string[];
}

export async function simulatedLinux(): Promise<LinuxBackend> {
  const host = new SimLinux(seededRandom(1));
  const { own, pods } = simulatedSpaces;
  for (const path of [own, ...pods.map(pathOf)]) host.addNamespace(path);
  return backendOn({
    name: 'simulation',
    host,
    spaces: simulatedSpaces,
    makeTap: async (namespace, name) => void host.openTap(name, namespace),
    close: async () => undefined,
  });
}

function pathOf(namespace: NetNamespace): string {
  return namespacePath(namespace) ?? '';
}

export async function backendOn(machine: Machine): Promise<LinuxBackend> {
  const { name, host, spaces } = machine;
  const { own } = spaces;
  const pods = spaces.pods.map(pathOf);
  const plain = new FaultyHost(host, own).host;
  const faulty = new FaultyHost(host, own);
  await plain.createVeth(
    { namespace: undefined, name: EXISTING_LINK },
    { namespace: undefined, name: 'nic1' },
  );
  await plain.setLink(undefined, EXISTING_LINK, { up: true });
  await plain.setLink(undefined, 'nic1', { up: true });
  const taps = new VppTapStub(plain, [undefined, ...pods], (tap, namespace = own) =>
    machine.makeTap(namespace, tap),
  );
  return {
    name,
    plain,
    pods,
    ...(name === 'kernel' && { slow: true }),
    descriptors: () => [
      ...linuxDescriptors({ host: faulty.host, label: 'node1', log: silentLogger }),
      taps.descriptor(),
    ],
    async state() {
      const states = await Promise.all([own, ...pods].map((path) => host.dump(path)));
      return states.map(({ links, ...rest }) => ({ ...rest, links: links.map(comparable) }));
    },
    refuse: (n) => faulty.refuse(n),
    cut: (n) => faulty.cut(n),
    get changes() {
      return faulty.changes;
    },
    requested: faulty.asked,
    stop: () => machine.close(),
  };
}

/** The same with unmanaged links as values, for values that depend on them. */
export function withHostLinkStub(backend: Backend): Backend {
  const descriptors = (): readonly AnyDescriptor[] =>
    backend.descriptors().map((each) => (each.name === 'linux-host-link' ? hostLinkStub : each));
  return Object.create(backend, { descriptors: { value: descriptors } });
}

/** Indexes are counted up; what a waiting end had from its value does not matter. */
function comparable({ index: _index, peerIndex: _peer, ...link }: LinuxLink): object {
  const waits = /^veth-[0-9a-f]{8}$/.test(link.name) || link.name.startsWith('tap-');
  return waits ? { ...link, mac: '', mtu: 0 } : link;
}
