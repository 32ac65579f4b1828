import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { aclKey } from '#models/vpp/acl.ts';
import { aclBindingKey } from '#models/vpp/derived.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import type { VppDescriptorOptions } from '../options.ts';
import type { AclMetadata } from './acl.ts';
import type { Direction } from './bindings.ts';

/** An ACL on an interface; read back with the ACL. */
export function aclToInterfaceDescriptor({
  aclBindings,
}: VppDescriptorOptions): KvDescriptor<object, undefined> {
  const ends = (key: string, ctx: OperationContext) => {
    const { acl, direction, iface } = parts(key);
    const { swIfIndex } = ctx.metadata<VppInterfaceMetadata>(
      vppInterfaceKey.build({ name: iface }),
    );
    const { aclIndex } = ctx.metadata<AclMetadata>(aclKey.build({ name: acl }));
    return { swIfIndex, iface, direction: direction as Direction, aclIndex };
  };
  return defineInternalDescriptor(
    'vpp-acl-to-interface',
    { keys: [aclBindingKey] },
    {
      dependencies: (key) => [
        { label: 'interface-exists', key: vppInterfaceKey.build({ name: parts(key).iface }) },
      ],
      async create(key, _value, ctx) {
        const { swIfIndex, iface, direction, aclIndex } = ends(key, ctx);
        await aclBindings.bind(swIfIndex, iface, direction, aclIndex);
        return undefined;
      },
      delete(key, _value, _metadata, ctx) {
        const { swIfIndex, direction, aclIndex } = ends(key, ctx);
        return ignoreNotFound(aclBindings.unbind(swIfIndex, direction, aclIndex));
      },
    },
  );
}

function parts(key: string) {
  const parsed = aclBindingKey.parse(key);
  if (parsed === undefined) throw new TypeError(`${key} is not a key of a bound ACL`);
  return parsed;
}
