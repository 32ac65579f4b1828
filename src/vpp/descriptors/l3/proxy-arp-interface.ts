import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { proxyArpInterfaceKey } from '#models/vpp/derived.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { ProxyARPInterface } from '#models/vpp/l3.gen.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import type { VppDescriptorOptions } from '../options.ts';

/**
 * An interface that answers for the ranges of proxy ARP; read back with the ranges. VPP keeps the setting
 * under the index of a deleted interface, so it is disabled before.
 */
export function proxyArpInterfaceDescriptor({
  client,
}: VppDescriptorOptions): KvDescriptor<object, undefined> {
  const enable = (key: string, on: boolean, ctx: OperationContext): Promise<unknown> =>
    client.request('proxy_arp_intfc_enable_disable', {
      sw_if_index: ctx.metadata<VppInterfaceMetadata>(interfaceKey(key)).swIfIndex,
      enable: on,
    });
  return defineInternalDescriptor(
    'vpp-proxy-arp-interface',
    { keys: [proxyArpInterfaceKey], valueType: ProxyARPInterface },
    {
      dependencies: (key) => [{ label: 'interface-exists', key: interfaceKey(key) }],
      async create(key, _value, ctx) {
        await enable(key, true, ctx);
        return undefined;
      },
      delete: (key, _value, _metadata, ctx) => ignoreNotFound(enable(key, false, ctx)),
    },
  );
}

function interfaceKey(key: string): string {
  return vppInterfaceKey.build({ name: proxyArpInterfaceKey.parse(key)?.iface ?? '' });
}
