/** Shapes of `GET /contiv/v1/policy/connectivity`. */

export interface ConnectivityDocument {
  readonly endpoints: readonly EndpointDocument[];
  readonly connections: readonly ConnectionDocument[];
  readonly unlisted: readonly { readonly pod: string; readonly reason: string }[];
  /** Names of endpoints, as many as the limit allows. */
  readonly sources: readonly string[];
  readonly destinations: readonly string[];
  /** How many the filters select. */
  readonly matching: {
    readonly sources: number;
    readonly destinations: number;
    readonly unlisted: number;
  };
  readonly namespaces: readonly string[];
}

export interface EndpointDocument {
  /** `default/web[Deployment]`, or a range of addresses outside of the cluster. */
  readonly name: string;
  readonly pods?: readonly string[];
  /** Of a range: one that stands for all. */
  readonly address?: string;
}

export interface ConnectionDocument {
  readonly from: string;
  readonly to: string;
  /** `All Connections`, or the ports by protocol: `TCP 80,8080-8090,UDP 53`. */
  readonly ports: string;
}

export interface PairDocument {
  readonly from: string;
  readonly to: string;
  readonly port: string | null;
  readonly verdict: 'permitted' | 'denied';
  readonly ports: string;
  readonly otherFamilies: { readonly from: string; readonly to: string } | null;
  /** null: an address outside of the cluster, or both ends are the same pod. */
  readonly egress: DirectionDocument | null;
  readonly ingress: DirectionDocument | null;
}

export interface DirectionDocument {
  readonly isolatedBy: readonly string[];
  readonly permits: readonly {
    readonly policy: string;
    readonly rule: number;
    readonly ports: string;
  }[];
}
