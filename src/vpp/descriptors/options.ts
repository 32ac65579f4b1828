import type { Clock } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { WireguardKeys } from '#plugins/controller/api/ports/wireguard.ts';
import type { VppClient } from '../binapi/api.ts';
import type { AclBindings } from './acl/bindings.ts';
import type { SessionCounters } from './cnat/session-counters.ts';
import type { LearnedNeighbors } from './l3/learned-neighbors.ts';
import type { ManagedKeys } from './managed-keys.ts';

/** The links in the kernel that a read-back did not find. */
export interface LostTapLinks {
  /** @param made where VPP made the link */
  has(readBack: object, tap: string, made: MadeLink): boolean;
}

export interface MadeLink {
  /** undefined: the namespace of the agent. */
  readonly namespace: string | undefined;
  readonly name: string;
}

/** The links of TAPs in the kernel. */
export interface TapLinks {
  /**
   * Begins to delete a link, so that VPP need not wait for the kernel when it deletes the TAP. If that is not possible,
   * nothing happens: VPP deletes the link, too.
   */
  beginDelete(made: MadeLink): Promise<void>;
}

/** VPP may run in a container of its own, with other files and processes than the agent. */
export interface NamespaceSight {
  /** Whether a path leads VPP to the same network namespace as the agent. */
  sees(path: string): Promise<boolean>;
}

/** State of the sessions with peers of WireGuard that VPP does not return, by the names of the peers' metadata. */
export interface PeerSessions {
  /** The session ended so long ago that VPP may have given up to make another one. */
  isLost(peer: string): boolean;
  /** VPP makes a session, and does not give up before it has one. */
  created(peer: string): void;
}

/** Dependencies of all VPP descriptors. */
export interface VppDescriptorOptions {
  readonly client: VppClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly aclBindings: AclBindings;
  readonly learnedNeighbors: LearnedNeighbors;
  readonly sessionCounters: SessionCounters;
  readonly managedKeys: ManagedKeys;
  /** Absent: the links of TAPs are not known. */
  readonly lostTapLinks?: LostTapLinks | undefined;
  /** Absent: VPP deletes the links. */
  readonly tapLinks?: TapLinks | undefined;
  /** Absent: VPP makes all links in its own namespace. */
  readonly namespaces?: NamespaceSight | undefined;
  /** Absent: no interface of WireGuard can be created. */
  readonly wireguardKeys?: WireguardKeys | undefined;
  /** Absent: no session is known to be lost. */
  readonly peerSessions?: PeerSessions | undefined;
}
