/** Input of the renderer of network policies, which converts it to configuration values. */
import type { Clock } from '#infra/clock/clock.ts';
import type { Transaction } from '#plugins/controller/api/transaction.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import type { ServiceName } from '#plugins/service/api.ts';
import type { KeptConnection } from './acl/kept-connections.ts';
import type { AddressNumber, AddressSet } from './address-set.ts';
import type { PodPolicy } from './pod-policy.ts';

/** This node, as far as policies concern it. */
export interface PolicyNode {
  /** Of the host and of VPP, without prefix length: a pod and its own node always reach each other. */
  readonly addresses: readonly string[];
  /**
   * The sources of connections from a pod to itself through a service, and of connections from outside to the
   * ports of this node: one of each family of the pods, without prefix length.
   */
  readonly natLoopbacks: readonly string[];
  /** The addresses of all pods of this node: one CIDR of each family. */
  readonly podSubnets: readonly string[];
  /**
   * Logical names of the interfaces of VPP by which packets of pods leave to where no pod of this node is, before
   * their source is translated.
   */
  readonly interfaces: readonly string[];
  /** Logical names of the NICs, by which packets from outside enter before services are translated. */
  readonly nics: readonly string[];
  /** Logical name of the interface of VPP by which packets of the host enter. */
  readonly hostLink: string;
}

/**
 * An address of a service whose clients are checked where their packets enter. Either VPP may replace their source,
 * because it has backends that are no pods, or is a node port or an external address: translated packets pass none of the
 * interfaces with their own source. Or the service itself restricts the clients.
 */
export interface CheckedAddress {
  /** Without prefix length. */
  readonly address: string;
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP';
  /** Those at which VPP may replace the source. The same list for addresses of the same port of the service. */
  readonly backends: readonly { readonly address: AddressNumber; readonly port: number }[];
  /** Those whom the service permits the address, whatever policies say; absent: everyone. */
  readonly clients?: AddressSet;
}

/** A pod of this node and its interface. */
export interface RenderedPod {
  readonly policy: PodPolicy;
  /** Logical name of its interface in VPP. */
  readonly interface: string;
}

export interface RenderedState {
  readonly node: PolicyNode;
  /** All attached pods, those without policies as well; undefined: the pod has no interface. */
  readonly pods: ReadonlyMap<AttachmentId, RenderedPod | undefined>;
  readonly services: ReadonlyMap<ServiceName, readonly CheckedAddress[]>;
  /** Connections that tables in VPP keep already, by name of the ACL; absent: VPP has none. */
  readonly kept?: ReadonlyMap<string, readonly KeptConnection[]>;
}

/** Only what changed. */
export interface RenderedChange {
  /** undefined: the pod is not attached any more. */
  readonly pods: ReadonlyMap<AttachmentId, RenderedPod | undefined>;
  /**
   * One of the pods, if it is just being attached: its values are put even unchanged. Only then does the
   * result of the event show whether they are configured.
   */
  readonly added?: AttachmentId;
  /** Absent: not changed. */
  readonly node?: PolicyNode;
  /** Empty: the service has no such address any more. Absent: none has changed. */
  readonly services?: ReadonlyMap<ServiceName, readonly CheckedAddress[]>;
}

/** The part of a handler's context that a renderer needs. */
export interface RendererContext {
  readonly txn: Pick<Transaction, 'replace'>;
  readonly clock: Clock;
}
