import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { Dependency, KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { linuxHostNameKey } from '#models/linux/derived.ts';
import { type ServiceLink, serviceLinkModel } from '#models/linux/service-link.ts';
import { LinuxError, type LinuxHost } from '../api.ts';
import type { SocketTable } from '../socket-services/api.ts';
import type { NamespaceDumps } from './namespaces.ts';

export interface ServiceLinkMetadata {
  readonly index: number;
}

export interface ServiceLinkOptions {
  readonly table: SocketTable;
  readonly host: LinuxHost;
  readonly dumps: NamespaceDumps;
}

/** Links of the host where the kernel leads packets of services to VPP, or back. All in the table are managed. */
export function serviceLinkDescriptor({
  table,
  host,
  dumps,
}: ServiceLinkOptions): KvDescriptor<ServiceLink, ServiceLinkMetadata> {
  const put = async (value: ServiceLink): Promise<ServiceLinkMetadata> => {
    const { host_if_name, vpp_link, gw_addr: gateway } = value;
    const names = vpp_link === '' ? [host_if_name] : [host_if_name, vpp_link];
    const found = await host.findLinks(undefined, names);
    const indexOf = (name: string): number => {
      const link = found.find((one) => one.name === name);
      if (!link) throw new LinuxError('no such link', { where: name, errno: 'ENODEV' });
      return link.index;
    };
    const index = indexOf(host_if_name);
    const toVpp = vpp_link === '' ? undefined : { index: indexOf(vpp_link), gateway };
    await table.putLink({ index, toVpp });
    return { index };
  };
  return defineDescriptor('linux-service-link', serviceLinkModel, {
    validate(key, { host_if_name, vpp_link, gw_addr }) {
      checkField(key, host_if_name !== '', 'host_if_name', 'missing');
      const isWhole = (vpp_link === '') === (gw_addr === '') && !gw_addr.includes(':');
      checkField(key, isWhole, 'gw_addr', 'must be an IPv4 address, with vpp_link only');
    },
    dependencies: (_key, { host_if_name, vpp_link }) =>
      [host_if_name, vpp_link].filter((name) => name !== '').map(linkExists),
    create: (_key, value) => put(value),
    update: (_key, _before, after) => put(after),
    async delete(_key, _value, { index }) {
      await table.deleteLink(index);
    },
    async retrieve(_correlate, ctx) {
      const all = await dumps.links(ctx.readBack, undefined);
      const names = new Map(all.map(({ index, name }) => [index, name]));
      const found = await table.links();
      // a program follows a link that is moved to another namespace, and goes as any value that is not desired
      const nameOf = (index: number): string => names.get(index) ?? `index ${index}`;
      return found.map(({ index, toVpp }) => {
        const value = serviceLinkModel.canonical({
          host_if_name: nameOf(index),
          // the link to VPP may have been replaced meanwhile
          ...(toVpp && { vpp_link: nameOf(toVpp.index), gw_addr: toVpp.gateway }),
        });
        const key = serviceLinkModel.key(value);
        return { key, value, metadata: { index }, origin: 'from-NB' as const };
      });
    },
  });
}

/** A link that the kernel reports, or that a configured interface has. */
function linkExists(name: string): Dependency {
  const present = linuxHostNameKey.build({ host: name });
  const accepts = (each: string): boolean => each === present || each.startsWith(`${present}/`);
  return { label: `link-${name}-exists`, anyOf: { prefixes: [present], accepts } };
}
