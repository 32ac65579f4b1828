/**
 * Services as the processor computes them from Kubernetes objects and a renderer configures them: for this node, every
 * address by which clients reach a service, with the backends of its family that get its traffic.
 */
import type { IpFamily } from '#models/ip.ts';
import { familyOfAddress } from '#plugins/ipam/api.ts';

/** `<namespace>/<name>` of a service; `<namespace>/pod:<name>` of the host ports of a pod, whose name has no colon. */
export type ServiceName = string;

const POD = 'pod:';

/** The name under which the host ports of a pod are rendered. */
export function hostPortsName(pod: { readonly namespace: string; readonly name: string }): string {
  return `${pod.namespace}/${POD}${pod.name}`;
}

/** For sentences: `service shop/web`, `pod shop/web-0`. */
export function ownerText(name: ServiceName): string {
  return name.includes(`/${POD}`) ? `pod ${name.replace(`/${POD}`, '/')}` : `service ${name}`;
}

export interface RenderedService {
  readonly name: ServiceName;
  /** Each (address, port, protocol) once in all services: conflicts are resolved. */
  readonly addresses: readonly ServiceAddress[];
  /** Node ports at addresses of other nodes, where these have other backends than this one; absent: none. */
  readonly atOtherNodes?: readonly OtherNodePort[];
}

/** The part of a service in one family. */
export function inFamily(service: RenderedService, family: IpFamily): RenderedService {
  const isOwn = ({ address }: Pick<ServiceAddress, 'address'>) =>
    familyOfAddress(address) === family;
  return { ...service, addresses: service.addresses.filter(isOwn) };
}

/** Whether backends see clients outside with their own addresses. */
export function keepsClient({ kind, replacesClient }: ServiceAddress): boolean {
  return kind !== 'cluster-ip' && !replacesClient;
}

/** Addresses of the pods of this node that answer clients outside with their own addresses. */
export function podsWithClientsOutside({ addresses }: RenderedService): string[] {
  const backends = addresses.filter(keepsClient).flatMap((address) => address.backends);
  const pods = backends.filter(({ isLocal, place }) => isLocal && place === 'pod');
  return [...new Set(pods.map(({ address }) => address))];
}

/** A node port at an address of another node, with the backends of that node. */
export interface OtherNodePort {
  /** Without prefix length. */
  readonly address: string;
  readonly port: number;
  readonly protocol: ServiceProtocol;
  /** Seconds; 0: no session affinity. */
  readonly affinityTimeout: number;
  /** At least one. */
  readonly backends: readonly Backend[];
}

/** `host-port`: of a pod of this node. */
export type AddressKind =
  | 'cluster-ip'
  | 'node-port'
  | 'external-ip'
  | 'load-balancer'
  | 'host-port';

/** SCTP is not supported by NAT44 and is reported. */
export type ServiceProtocol = 'TCP' | 'UDP';

export interface ServiceAddress {
  readonly kind: AddressKind;
  /** Name of the port of the service; empty if it has none. */
  readonly portName: string;
  /** Without prefix length. */
  readonly address: string;
  readonly port: number;
  readonly protocol: ServiceProtocol;
  /**
   * Whether backends see an address of this node instead of the client's. Necessary for clients outside
   * the cluster if a backend may be on another node: its reply must return through this node.
   */
  readonly replacesClient: boolean;
  /** Seconds; 0: no session affinity. */
  readonly affinityTimeout: number;
  /**
   * Best first: a renderer that cannot carry all uses the first ones. Empty: connections are refused, or
   * dropped if the renderer cannot refuse them.
   */
  readonly backends: readonly Backend[];
  /** The same for clients on nodes and in pods, if they get others than clients outside. */
  readonly backendsInside?: readonly Backend[];
  /** Those who may use the address; absent: everyone. */
  readonly clients?: PermittedClients;
}

/** Whether any node has a backend for the address. */
export function hasEndpoints({ backends, backendsInside = backends }: ServiceAddress): boolean {
  return backendsInside.length > 0;
}

export interface PermittedClients {
  /** CIDRs of the family, sorted; none: no client may. */
  readonly ranges: readonly string[];
  /** How many of the pods of this node are in them. */
  readonly pods: 'all' | 'some' | 'none';
}

export interface Backend {
  /** Without prefix length. */
  readonly address: string;
  readonly port: number;
  /** Empty: unknown. */
  readonly nodeName: string;
  /** Whether it is a pod of this node, or this node itself. */
  readonly isLocal: boolean;
  readonly place: BackendPlace;
}

/** `node`: the host of this node or of another one; `outside`: a machine that is no node. */
export type BackendPlace = 'pod' | 'node' | 'outside';
