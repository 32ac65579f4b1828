/** Shapes of `GET /trace/pair`. */

export interface PairTrace {
  readonly node: string;
  readonly view: 'SB' | 'NB';
  readonly from: TraceEnd;
  readonly to: TraceEnd;
  readonly packet: {
    readonly source: string;
    readonly destination: string;
    readonly protocol: string | null;
    readonly sourcePort: number | null;
    readonly destinationPort: number | null;
  };
  readonly verdict: 'delivered' | 'continues' | 'failed';
  readonly paths: readonly TracedPath[];
  readonly omittedPaths: number;
  /** Traces the packet through all nodes. */
  readonly command: string;
}

interface TraceEnd {
  readonly name: string;
  readonly kind: 'pod' | 'service' | 'address';
  readonly address: string;
}

export interface TracedPath {
  /** Of all connections. */
  readonly share: number;
  readonly trace: OneWay;
  readonly reply: OneWay | null;
}

export interface OneWay {
  readonly verdict: 'delivered' | 'dropped' | 'refused' | 'left';
  readonly hops: readonly Hop[];
  readonly continuesOn: {
    /** Empty: no node has the address. */
    readonly node: string;
    readonly address: string;
    readonly isTunnel: boolean;
  } | null;
}

export interface Hop {
  readonly device: string;
  readonly description: string;
  readonly key: string;
}

/** `GET /contiv/v1/ipam/allocations`. */
export interface AllocationsDocument {
  readonly Pods: readonly {
    readonly PodID: { readonly Name: string; readonly Namespace: string };
    readonly MainIP: string;
  }[];
}
