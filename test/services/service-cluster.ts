/**
 * Two nodes with pods and services, as the cases of the compliance suite see them: real nodes whose
 * connections are real packets, or the simulator, whose connections are packet traces.
 */
import type { Endpoints } from '#kubernetes/models/endpoints.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { Service } from '#kubernetes/models/service.ts';
import type { AnyResource } from '#kubernetes/resources/resources.ts';
import type { DeepInput } from '#models/model.ts';

export type NodeName = 'node1' | 'node2';

/** The location of a client or a server. `outside`: a machine on the network of the nodes that is none of them. */
export type Place = { readonly pod: string } | { readonly host: NodeName } | 'outside';

export type Protocol = 'TCP' | 'UDP';

export interface Target {
  readonly address: string;
  readonly port: number;
  readonly protocol: Protocol;
  /** Of each datagram; default 16. */
  readonly bytes?: number;
}

/** How a connection was answered; over UDP, a datagram and its reply. */
export type Answer =
  | {
      readonly result: 'answered';
      /** Name of the place that answered: of the pod or the node, or `outside`. */
      readonly backend: string;
      /** Port at which it answered. */
      readonly backendPort: number;
      /** Address of the client as the backend sees it. */
      readonly client: string;
    }
  /** `refused`: the client gets a reset or an ICMP error. */
  | { readonly result: 'refused' | 'timeout' };

/** Open connections; each has its own client port. */
export interface OpenConnections {
  /** In the order of opening. */
  readonly answers: readonly Answer[];
  /** Sends over each connection; those over which nothing returns, or from another backend. */
  broken(): Promise<readonly Answer[]>;
  close(): Promise<void>;
}

/** The fields that differ from the default value of the record. */
export interface ServiceRecords {
  /** Also the name of the endpoints. */
  readonly name: string;
  /** Undefined: deleted. */
  readonly service?: DeepInput<Service>;
  /** Undefined: deleted. */
  readonly endpoints?: DeepInput<Endpoints>;
}

/** A record of Kubernetes of any kind. */
export interface KubeRecord {
  readonly resource: AnyResource;
  readonly name: string;
  /** Default: `default`. Records of namespaces have none. */
  readonly namespace?: string;
  /** Undefined: deleted. */
  readonly value: object | undefined;
}

export interface ServiceCluster extends AsyncDisposable {
  /** Whether pods and hosts are translated at their sockets. Clients outside are not. */
  readonly hasSockets: boolean;
  /**
   * Starts a pod that answers at these ports, over TCP and UDP, and writes its record.
   * @param record additional fields; a namespace other than `default` is also that of the pod
   */
  startPod(
    name: string,
    node: NodeName,
    ports: readonly number[],
    record?: DeepInput<Pod>,
  ): Promise<void>;
  /** Ends a pod: its network goes, then its record. */
  endPod(name: string): Promise<void>;
  /** Lets a host or the outside answer at a port, over TCP and UDP. */
  serve(at: Place, port: number): Promise<void>;

  /** Address of a pod; management address of a host; address of the outside. */
  addressOf(place: Place): string;
  /** Undefined: outside. */
  nodeOf(place: Place): NodeName | undefined;
  /** Address of VPP on the network between the nodes. */
  vppAddressOf(node: NodeName): string;
  /** The address that a backend sees where this node replaces the client's address. */
  natLoopbackOf(node: NodeName): string;

  /**
   * An address for services, in the family of the pods.
   * @param ipv4 of the service subnet, or one outside of the cluster
   */
  serviceAddress(ipv4: string): string;

  /** Writes records of the namespace `default`, in order; resolves when all running agents have applied them. */
  apply(...records: readonly ServiceRecords[]): Promise<void>;

  /** Writes records, in order; resolves when all running agents have applied them. */
  write(...records: readonly KubeRecord[]): Promise<void>;

  /** Lets the outside reach an address through a node, as a load balancer or its own routes do. */
  routeFromOutside(address: string, via: NodeName): Promise<void>;

  /** Opens and closes connections, some of them at a time. */
  connect(from: Place, to: Target, count?: number): Promise<readonly Answer[]>;
  open(from: Place, to: Target, count: number): Promise<OpenConnections>;
  /** Resolves when this time has passed for VPP. */
  pass(seconds: number): Promise<void>;

  /** Ends an agent, calls `meanwhile`, and starts it; VPP continues. Resolves when it is ready. */
  restartAgent(
    node: NodeName,
    signal: 'SIGTERM' | 'SIGKILL',
    meanwhile?: () => Promise<void>,
  ): Promise<void>;
}

export interface ServiceClusterOptions {
  /** Additional keys of contiv.conf of all nodes. */
  readonly contiv?: Readonly<Record<string, unknown>>;
  /** Keys of service.conf of all nodes. */
  readonly service?: Readonly<Record<string, unknown>>;
  readonly zones?: Readonly<Record<NodeName, string>>;
}

export type StartServiceCluster = (options?: ServiceClusterOptions) => Promise<ServiceCluster>;
