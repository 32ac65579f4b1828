/** Backends of the descriptor suites on VPP: the simulated VPP; the real one is in test/integration/support. */
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import type { SimVpp } from '#simulator/vpp/vpp.ts';
import { FaultyClient } from '#test/descriptors/compliance/faulty-client.ts';
import { hostLinkStub, hostLinksStub } from '#test/descriptors/compliance/host-link-stub.ts';
import type { Backend } from '#test/descriptors/compliance/suite.ts';
import { vppState } from '#test/descriptors/compliance/vpp-state.ts';
import { testWireguardKeys } from '#test/support/wireguard-keys.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import type { Catalog } from '#vpp/binapi/catalog.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';
import { type RunningSim, startSim } from './simulated-vpp.ts';

/** Links of the kernel that VPP can bind to. */
export const hostLinks = ['host1', 'host2'] as const;

type DescriptorParts = Pick<Parameters<typeof vppDescriptors>[0], 'lostTapLinks' | 'managedKeys'>;

export interface VppBackend extends Backend {
  /** Past the faults. */
  readonly client: VppClient;
  /** New descriptors with these parts. */
  descriptorsWith(parts: DescriptorParts): readonly AnyDescriptor[];
  readonly simulated?: SimVpp | undefined;
}

/** The same with links reported as existing, as the descriptors of Linux report them. */
export function withHostLinkNotifications(backend: VppBackend): VppBackend {
  const links = hostLinksStub(hostLinks);
  return Object.create(backend, {
    descriptors: {
      value: () => backend.descriptors().map((each) => (each === hostLinkStub ? links : each)),
    },
  });
}

/** A simulated VPP on a machine with the links. */
export async function simulatedVppWithLinks(catalog?: Catalog): Promise<RunningSim> {
  const sim = await startSim(catalog);
  const [a, b] = hostLinks;
  await sim.linux.createVeth({ namespace: undefined, name: a }, { namespace: undefined, name: b });
  return sim;
}

/** @param catalog of the release that it pretends to be; default: the one that is bundled */
export async function simulatedVpp(catalog?: Catalog): Promise<VppBackend> {
  const { client, vpp, stop } = await simulatedVppWithLinks(catalog);
  return backendOver('simulation', client, stop, { simulated: vpp });
}

export function backendOver(
  name: string,
  client: VppClient,
  stop: () => Promise<void>,
  more: Pick<VppBackend, 'simulated' | 'withoutTaps'>,
): VppBackend {
  const faulty = new FaultyClient(client);
  const needs = {
    client: faulty.client,
    clock: systemClock,
    log: silentLogger,
    wireguardKeys: testWireguardKeys,
  };
  const descriptorsWith = (parts: DescriptorParts): readonly AnyDescriptor[] => [
    ...vppDescriptors({ ...needs, ...parts }),
    hostLinkStub,
  ];
  return {
    name,
    client,
    ...more,
    descriptorsWith,
    descriptors: () => descriptorsWith({}),
    state: () => vppState(client),
    has: (message) => client.has(message),
    refuse: (n) => faulty.refuse(n),
    cut: (n) => faulty.cut(n),
    get changes() {
      return faulty.changes;
    },
    requested: faulty.asked,
    read: faulty.read,
    stop,
  };
}
