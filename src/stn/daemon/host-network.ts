/** Links, addresses and routes of the host, as contiv-stn reads and restores them. */
import type { NicAddress, NicRoute } from './nic-record.ts';

export interface HostLink {
  readonly index: number;
  readonly name: string;
  /** `ether`, `vlan`, `bond` … as `ip -d link` names the kind. */
  readonly kind: string;
  /** Whether it is set up, with or without a carrier. */
  readonly up: boolean;
  /** Number of RFC 2863: 2 is down, 6 is up; 0, unknown, counts as up. */
  readonly operState: number;
  readonly mtu: number;
  readonly mac: string | undefined;
  /** Of the bridge or bond that it belongs to. */
  readonly masterIndex: number | undefined;
  /** Of the link that it is stacked on, in the same namespace. */
  readonly lowerIndex: number | undefined;
}

export interface LinkChange {
  readonly up?: boolean;
  readonly mtu?: number;
  readonly mac?: string;
}

/** Every call throws Refusal (the kernel refused) or LinuxError. */
export interface HostNetwork {
  links(): readonly HostLink[];
  /** In the kernel's order, IPv6 link-local ones included. */
  addresses(index: number): readonly NicAddress[];
  /** Of all tables, without those that the kernel makes for local addresses. */
  routes(index: number): readonly NicRoute[];
  setLink(index: number, change: LinkChange): void;
  /** The link must be down. */
  rename(index: number, name: string): void;
  addAddress(index: number, address: NicAddress): void;
  addRoute(index: number, route: NicRoute): void;
}
