import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { type LinuxArpEntry, linuxArpModel } from '#models/linux/arp.ts';
import { linuxInterfaceKey } from '#models/linux/interface.ts';
import type { LinuxInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { ignoreNotFound } from './ignored-errors.ts';
import { interfaceDependencies } from './interface-dependencies.ts';
import { managedLinks } from './managed-links.ts';
import type { LinuxDescriptorOptions } from './options.ts';

/** Neighbors, IPv4 and IPv6. Permanent neighbors on managed interfaces are managed; learned ones are never permanent. */
export function linuxArpDescriptor({
  host,
  dumps,
}: LinuxDescriptorOptions): KvDescriptor<LinuxArpEntry, undefined> {
  const metadata = (value: LinuxArpEntry, ctx: OperationContext): LinuxInterfaceMetadata =>
    ctx.metadata<LinuxInterfaceMetadata>(linuxInterfaceKey.build({ name: value.interface }));
  const set = async (value: LinuxArpEntry, ctx: OperationContext): Promise<undefined> => {
    dumps.invalidate();
    const { namespace, hostIfName } = metadata(value, ctx);
    const { ip_address: address, hw_address: mac } = value;
    await host.setNeighbor(namespace, { address, mac, device: hostIfName });
  };
  return defineDescriptor('linux-arp', linuxArpModel, {
    retrieveDependencies: ['linux-interface'],
    validate(key, value) {
      checkField(key, value.interface !== '', 'interface', 'missing');
      checkField(key, value.ip_address !== '', 'ip_address', 'missing');
      checkField(key, value.hw_address !== '', 'hw_address', 'missing');
    },
    dependencies: (_key, value) => interfaceDependencies(value.interface, value.ip_address),
    create: (_key, value, ctx) => set(value, ctx),
    update: (_key, _before, after, _metadata, ctx) => set(after, ctx),
    async delete(_key, value, _metadata, ctx) {
      dumps.invalidate();
      const { namespace, hostIfName } = metadata(value, ctx);
      await ignoreNotFound(host.deleteNeighbor(namespace, hostIfName, value.ip_address));
    },

    async retrieve(correlate, ctx) {
      const found = await Promise.all(
        [...managedLinks(ctx, correlate, (one) => one.interface)].map(
          async ([namespace, names]) => {
            const state = await dumps.read(ctx.readBack, namespace);
            return (state?.neighbors ?? [])
              .filter(({ permanent }) => permanent)
              .flatMap(({ address, mac, device }) => {
                const iface = names.get(device);
                if (iface === undefined) return [];
                const fields = { interface: iface, ip_address: address, hw_address: mac };
                return [linuxArpModel.canonical(fields)];
              });
          },
        ),
      );
      return found
        .flat()
        .map((value) => ({ key: linuxArpModel.key(value), value, origin: 'from-NB' as const }));
    },
  });
}
