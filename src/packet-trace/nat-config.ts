/** The configuration of VPP's NAT44 (endpoint-dependent), as plain data. Addresses are text. */
import type { Protocol } from './packet.ts';

export interface NatConfig {
  /** Whether packets pass that no mapping or session translates. */
  readonly forwarding: boolean;
  /** In the order in which they were configured. */
  readonly features: readonly NatFeature[];
  readonly mappings: readonly NatMapping[];
  readonly identities: readonly NatIdentity[];
  /** Source addresses of traffic that leaves by an interface with the output feature. */
  readonly pool: readonly NatPoolAddress[];
  /** Source addresses of traffic to mappings with twice-NAT. */
  readonly twiceNatPool: readonly NatPoolAddress[];
}

export interface NatFeature {
  readonly interface: string;
  /**
   * `in` and `out` translate at the input of the interface, and `classify` does as both; `output` excludes
   * them.
   */
  readonly side: 'in' | 'out' | 'classify' | 'output' | 'output-only';
}

export interface NatMapping {
  /** Key of the value that configures it; empty if none does. */
  readonly key: string;
  /** Label of the DNAT; for a service `<namespace>/<name>`. */
  readonly label: string;
  readonly protocol: Protocol;
  /** External address. */
  readonly address: string;
  /** External port; 0: the mapping is for all protocols and ports of the address. */
  readonly port: number;
  /** Several share the connections. */
  readonly backends: readonly NatBackend[];
  readonly twiceNat: 'DISABLED' | 'ENABLED' | 'SELF';
  /** The only address of the twice-NAT pool to be used; empty: any. */
  readonly twiceNatAddress: string;
  /** Seconds; 0: no affinity. VPP has none for a single backend. */
  readonly affinity: number;
  /** Whether it translates only connections to the external address, and not those of the backend. */
  readonly isOut2inOnly: boolean;
}

export interface NatBackend {
  readonly address: string;
  /** 0 if the mapping is for all ports. */
  readonly port: number;
  /** Routing table of the address. */
  readonly table: number;
  /** Share of the connections, out of the sum of all. */
  readonly weight: number;
}

/** Traffic of the address is not translated. */
export interface NatIdentity {
  readonly key: string;
  readonly label: string;
  readonly protocol: Protocol;
  readonly address: string;
  /** 0: all protocols and ports. */
  readonly port: number;
  readonly table: number;
}

export interface NatPoolAddress {
  readonly key: string;
  readonly address: string;
  /** Routing table of the traffic that may use it; undefined: any. */
  readonly table: number | undefined;
}
