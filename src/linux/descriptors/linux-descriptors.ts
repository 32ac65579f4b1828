import type { Logger } from '#infra/log/log.ts';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import type { LinuxHost } from '../api.ts';
import { linuxArpDescriptor } from './arp.ts';
import { hostLinkDescriptor } from './host-link.ts';
import { linuxAddressDescriptor } from './interface/address.ts';
import { type LinuxDescriptorOptions, linuxInterfaceDescriptor } from './interface/interface.ts';
import { LinkMarks } from './link-marks.ts';
import { NamespaceDumps } from './namespaces.ts';
import { linuxRouteDescriptor } from './route.ts';

/** All descriptors of what the kernel is configured with. */
export function linuxDescriptors(parts: {
  readonly host: LinuxHost;
  /** Service label of this agent: part of the mark on its links. */
  readonly label: string;
  readonly log: Logger;
}): readonly AnyDescriptor[] {
  const { host, label, log } = parts;
  const needs: LinuxDescriptorOptions = {
    host,
    log,
    marks: new LinkMarks(label),
    dumps: new NamespaceDumps(host),
  };
  return [
    linuxInterfaceDescriptor(needs),
    linuxAddressDescriptor(needs),
    linuxRouteDescriptor(needs),
    linuxArpDescriptor(needs),
    hostLinkDescriptor(needs),
  ];
}
