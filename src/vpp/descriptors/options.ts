import type { Clock } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { VppClient } from '../binapi/api.ts';
import type { AclBindings } from './acl/bindings.ts';

/** Dependencies of all VPP descriptors. */
export interface VppDescriptorOptions {
  readonly client: VppClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly aclBindings: AclBindings;
}
