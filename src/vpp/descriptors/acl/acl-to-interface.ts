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
  const set = (key: string, isBound: boolean, ctx: OperationContext): Promise<void> => {
    const { acl, direction, iface } = parts(key);
    const { swIfIndex } = ctx.metadata<VppInterfaceMetadata>(
      vppInterfaceKey.build({ name: iface }),
    );
    const { aclIndex } = ctx.metadata<AclMetadata>(aclKey.build({ name: acl }));
    return aclBindings.set(swIfIndex, direction as Direction, aclIndex, isBound);
  };
  return defineInternalDescriptor(
    'vpp-acl-to-interface',
    { keys: [aclBindingKey] },
    {
      dependencies: (key) => [
        { label: 'interface-exists', key: vppInterfaceKey.build({ name: parts(key).iface }) },
      ],
      async create(key, _value, ctx) {
        await set(key, true, ctx);
        return undefined;
      },
      delete: (key, _value, _metadata, ctx) => ignoreNotFound(set(key, false, ctx)),
    },
  );
}

function parts(key: string) {
  const parsed = aclBindingKey.parse(key);
  if (parsed === undefined) throw new TypeError(`${key} is not a key of a bound ACL`);
  return parsed;
}
