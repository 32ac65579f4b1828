import type { Clock } from '#infra/clock/clock.ts';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import type { VppClient } from '../../binapi/api.ts';
import { aclDescriptor } from './acl.ts';
import { aclToInterfaceDescriptor } from './acl-to-interface.ts';
import { AclBindings } from './bindings.ts';

/** All descriptors of access lists. */
export function aclDescriptors(needs: {
  readonly client: VppClient;
  readonly clock: Clock;
}): readonly AnyDescriptor[] {
  const bindings = new AclBindings(needs.client);
  return [aclDescriptor(needs, bindings), aclToInterfaceDescriptor(bindings)];
}
