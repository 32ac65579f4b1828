/** Documents of the nodes of the cluster; docs/rest.md describes them. */
import type { Counters } from '../../traffic/traffic-history.ts';

export interface NodeDocument {
  readonly id: number;
  readonly name: string;
  readonly isThisNode: boolean;
  /** With prefix length. */
  readonly vppAddresses: readonly string[];
  readonly managementAddresses: readonly string[];
  readonly podCidr: string;
  /** null: it is this node, or this node was not configured yet. */
  readonly link: {
    readonly kind: 'tunnel' | 'routes' | 'none';
    readonly address: string | null;
    readonly whyUnreachable: string | null;
    readonly values: {
      readonly state: string | null;
      readonly total: number;
      readonly faults: readonly {
        readonly key: string;
        readonly state: string;
        readonly error?: string;
      }[];
    };
  } | null;
  readonly tunnel: {
    readonly interface: string;
    readonly key: string;
    readonly state: string;
    readonly counters: Counters | null;
  } | null;
}

/** `GET /contiv/v1/nodes`. */
export interface NodeList {
  readonly thisNode: string;
  readonly total: number;
  readonly matching: number;
  readonly collectedAt: string | null;
  readonly countersError: string | null;
  readonly nodes: readonly NodeDocument[];
}
