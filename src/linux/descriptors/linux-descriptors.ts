import type { Logger } from '#infra/log/log.ts';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import type { LinuxHost } from '../api.ts';
import type { SocketTable } from '../socket-services/api.ts';
import { linuxArpDescriptor } from './arp.ts';
import { hostLinkDescriptor } from './host-link.ts';
import { linuxAddressDescriptor } from './interface/address.ts';
import { linuxInterfaceDescriptor } from './interface/interface.ts';
import { LostTapLinks } from './interface/lost-tap-links.ts';
import { LinkMarks } from './link-marks.ts';
import { NamespaceDumps } from './namespaces.ts';
import type { LinuxDescriptorOptions } from './options.ts';
import { linuxRouteDescriptor } from './route.ts';
import { serviceLinkDescriptor } from './service-link.ts';
import { socketExemptionDescriptor } from './socket-exemption.ts';
import { socketNodeAddressDescriptor } from './socket-node-address.ts';
import { socketServiceDescriptor } from './socket-service.ts';

/** Every descriptor of Linux is registered here. */
const factories: readonly ((options: LinuxDescriptorOptions) => AnyDescriptor)[] = [
  linuxInterfaceDescriptor,
  linuxAddressDescriptor,
  linuxRouteDescriptor,
  linuxArpDescriptor,
  hostLinkDescriptor,
];

/** New descriptors of all that the agent configures in the kernel. */
export function linuxDescriptors(options: {
  readonly host: LinuxHost;
  /** Service label of this agent: part of the mark on its links. */
  readonly label: string;
  readonly log: Logger;
  readonly lostTapLinks?: LostTapLinks;
  /** undefined: the kernel translates no services at sockets. */
  readonly socketTable?: SocketTable | undefined;
}): readonly AnyDescriptor[] {
  const { host, label, log, lostTapLinks = new LostTapLinks(), socketTable } = options;
  const shared: LinuxDescriptorOptions = {
    host,
    log,
    marks: new LinkMarks(label),
    dumps: new NamespaceDumps(host),
    lostTapLinks,
  };
  const descriptors = factories.map((create) => create(shared));
  if (socketTable === undefined) return descriptors;
  return [
    ...descriptors,
    socketServiceDescriptor(socketTable),
    socketNodeAddressDescriptor(socketTable),
    socketExemptionDescriptor(socketTable),
    serviceLinkDescriptor({ table: socketTable, host, dumps: shared.dumps }),
  ];
}
