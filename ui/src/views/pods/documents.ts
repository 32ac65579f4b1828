/** Documents of the pods of this node; docs/rest.md describes them. */
import type { Counters } from '../../traffic/traffic-history.ts';

export interface ValueState {
  readonly key: string;
  readonly state: string;
  readonly error?: string;
  readonly details?: readonly string[];
}

/** States of the values of an object. */
export interface ValueStates {
  /** The worst one; null: there are no values. */
  readonly state: string | null;
  readonly total: number;
  readonly faults: readonly ValueState[];
}

export interface PodSummary {
  readonly namespace: string;
  readonly name: string;
  readonly containerId: string;
  readonly networkNamespace: string;
  readonly addresses: readonly string[];
  readonly interfaces: {
    readonly vpp: { readonly name: string; readonly swIfIndex: number | null };
    readonly linux: { readonly name: string; readonly hostName: string };
  } | null;
  readonly isAdopted: boolean;
  readonly isDisplaced: boolean;
  readonly attachedAt: string | null;
  readonly values: ValueStates;
}

/** `GET /contiv/v1/pods`. */
export interface PodList {
  readonly total: number;
  readonly matching: number;
  readonly pods: readonly PodSummary[];
}

export interface PodAttachment extends PodSummary {
  readonly policies: {
    readonly ingress: readonly string[];
    readonly egress: readonly string[];
  } | null;
  readonly valueStates: readonly ValueState[];
}

export interface ServiceUse {
  readonly service: string;
  readonly kind: string;
  readonly address: string;
  readonly port: number;
  readonly protocol: string;
  readonly portName: string;
  readonly podAddress: string;
  readonly targetPort: number;
  readonly whyNotUsed: string | null;
}

/** `GET /contiv/v1/pods/:namespace/:name`. */
export interface PodDocument {
  readonly namespace: string;
  readonly name: string;
  readonly attachments: readonly PodAttachment[];
  readonly servicesTotal: number;
  readonly services: readonly ServiceUse[];
}

/** `GET /contiv/v1/interfaces`. */
export interface InterfaceList {
  readonly collectedAt: string | null;
  readonly error: string | null;
  readonly matching: number;
  readonly interfaces: readonly {
    readonly name: string;
    readonly vppName: string;
    readonly swIfIndex: number;
    readonly counters: Counters;
  }[];
}
