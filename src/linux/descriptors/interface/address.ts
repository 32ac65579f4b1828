import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { linuxInterfaceAddressKey } from '#models/linux/derived.ts';
import { linuxInterfaceKey } from '#models/linux/interface.ts';
import type { LinuxInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { ignoreErrno, ignoreNotFound } from '../ignored-errors.ts';
import type { LinuxDescriptorOptions } from '../options.ts';

/** The kernel adds these to every `lo` that is set up; the agent does not delete them. */
const loopbackAddresses = ['127.0.0.1/8', '::1/128'];

/** An address of a Linux interface; read back with the interface. */
export function linuxAddressDescriptor({
  host,
  dumps,
}: LinuxDescriptorOptions): KvDescriptor<object, undefined> {
  const target = (
    key: string,
    ctx: OperationContext,
  ): LinuxInterfaceMetadata & { readonly address: string } => {
    const { iface = '', address = '' } = linuxInterfaceAddressKey.parse(key) ?? {};
    const base = ctx.metadata<LinuxInterfaceMetadata>(linuxInterfaceKey.build({ name: iface }));
    return { ...base, address };
  };
  return defineInternalDescriptor(
    'linux-interface-address',
    { keys: [linuxInterfaceAddressKey] },
    {
      async create(key, _value, ctx) {
        dumps.invalidate();
        const { namespace, hostIfName, address } = target(key, ctx);
        await ignoreErrno('EEXIST', host.addAddress(namespace, hostIfName, address));
        return undefined;
      },
      async delete(key, _value, _metadata, ctx) {
        dumps.invalidate();
        const { namespace, hostIfName, address } = target(key, ctx);
        if (hostIfName === 'lo' && loopbackAddresses.includes(address)) return;
        await ignoreNotFound(host.deleteAddress(namespace, hostIfName, address));
      },
    },
  );
}
