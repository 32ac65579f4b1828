/** Wiring of Linux: its descriptors, its port, and the preparation of the host. */
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import type { HostPort } from '#plugins/controller/api/ports/host.ts';
import type { LinuxHost } from './api.ts';
import { LostTapLinks } from './descriptors/interface/lost-tap-links.ts';
import { linuxDescriptors } from './descriptors/linux-descriptors.ts';
import { type TapLinks, tapLinks } from './descriptors/tap-links.ts';
import { hostPort } from './host-port.ts';
import type { HostFacts } from './kernel/prepare-host.ts';
import type { SocketTable } from './socket-services/api.ts';

export interface LinuxWiringDeps {
  readonly host: LinuxHost;
  /** undefined: the kernel translates no services at sockets. */
  readonly socketTable: SocketTable | undefined;
  /** Prepares the host for the pods. */
  readonly prepare: () => Promise<HostFacts>;
  /** Service label of the agent. */
  readonly label: string;
  readonly log: Logger;
}

export interface WiredLinux {
  readonly descriptors: readonly AnyDescriptor[];
  /** For the descriptors of VPP, which are read back later. */
  readonly lostTapLinks: LostTapLinks;
  /** For the descriptors of VPP. */
  readonly tapLinks: TapLinks;
  readonly port: HostPort;
  /** Prepares the host. */
  readonly component: Component;
}

export function wireLinux({ host, socketTable, prepare, label, log }: LinuxWiringDeps): WiredLinux {
  let facts: HostFacts = { ipv6: false };
  const lostTapLinks = new LostTapLinks();
  return {
    descriptors: linuxDescriptors({ host, label, log, lostTapLinks, socketTable }),
    lostTapLinks,
    tapLinks: tapLinks(host, log),
    port: hostPort(host, () => facts.ipv6, socketTable !== undefined),
    component: {
      name: 'host',
      init: async () => {
        facts = await prepare();
      },
    },
  };
}
