import type { Clock } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { VppClient } from '../binapi/api.ts';
import type { AclBindings } from './acl/bindings.ts';
import type { LearnedNeighbors } from './l3/learned-neighbors.ts';
import type { ManagedKeys } from './managed-keys.ts';

/** The links in the kernel that a read-back did not find. */
export interface LostTapLinks {
  /** @param hostIfName VPP's name for the link */
  has(readBack: object, tap: string, hostIfName: string): boolean;
}

/** Dependencies of all VPP descriptors. */
export interface VppDescriptorOptions {
  readonly client: VppClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly aclBindings: AclBindings;
  readonly learnedNeighbors: LearnedNeighbors;
  readonly managedKeys: ManagedKeys;
  /** Absent: the links of TAPs are not known. */
  readonly lostTapLinks?: LostTapLinks | undefined;
}
