/** This node as the processor sees it: which addresses are its own, and which are those of pods. */
import {
  type Cidr,
  contains,
  formatIp,
  type IpBytes,
  type IpFamily,
  ipFamily,
  parseCidr,
  parseIp,
} from '#models/ip.ts';
import { AddressRules, type OwnNetwork, whyNoHost } from '#plugins/nodesync/api.ts';
import type { BackendPlace, ServiceProtocol } from '../rendered-service.ts';
import { type OtherNode, OtherNodes } from './other-nodes.ts';

/** Input of the processor besides the Kubernetes objects. */
export interface LocalNode {
  readonly name: string;
  /** Those of the pods, the primary one first; addresses and backends of others are not rendered. */
  readonly families: readonly IpFamily[];
  /** Those of them in which clients outside of the cluster are served. */
  readonly familiesOutside: readonly IpFamily[];
  /** At which node ports answer, without prefix length: the addresses of VPP and of the host. */
  readonly addresses: readonly string[];
  /** Addresses by which other nodes know the host of this one, at most one of each family: besides those of the link to VPP. */
  readonly hostSources: readonly string[];
  /** Whether services are reached at their `externalIPs`. */
  readonly hasExternalIps: boolean;
  /** CIDRs of the pods of all nodes, one of each family. */
  readonly podSubnets: readonly string[];
  /** CIDRs of the pods of this node, one of each family. */
  readonly ownPodSubnets: readonly string[];
  readonly network: OwnNetwork;
  /** Ports that the node needs on every address. */
  readonly neededPorts: readonly NeededPort[];
  /** Those of the etcd of the agent: no service may take one as its external address. */
  readonly etcdEndpoints: readonly EtcdEndpoint[];
  readonly otherNodes: Iterable<OtherNode>;
}

export interface NeededPort {
  readonly protocol: ServiceProtocol;
  readonly port: number;
  /** For operators, for example `VXLAN`. */
  readonly user: string;
}

export interface EtcdEndpoint {
  readonly address: string;
  readonly port: number;
}

/** Addresses of the families at which clients can ask, each once. */
export function askedAddresses({
  addresses,
  families,
}: Pick<LocalNode, 'addresses' | 'families'>): readonly string[] {
  const asked = addresses.flatMap((text) => {
    const bytes = parseIp(text);
    if (bytes === undefined || !families.includes(ipFamily(bytes))) return [];
    // the host has addresses at which no client outside of it can ask
    return whyNoHost(text) === undefined ? [formatIp(bytes)] : [];
  });
  return [...new Set(asked)];
}

/** The facts of `LocalNode`, parsed once. */
export class NodeView {
  readonly name: string;
  readonly families: readonly IpFamily[];
  readonly familiesOutside: readonly IpFamily[];
  readonly hasExternalIps: boolean;
  /** Those of the families at which clients can ask, each once. */
  readonly addresses: readonly string[];
  readonly #pods: readonly Cidr[];
  readonly #ownPods: readonly Cidr[];
  readonly #neededPorts: readonly NeededPort[];
  readonly #etcdEndpoints: readonly EtcdEndpoint[];
  readonly #rules: AddressRules;
  readonly #own: ReadonlySet<string>;
  /** Changes with the other nodes. */
  readonly otherNodes: OtherNodes;

  constructor(node: LocalNode) {
    this.name = node.name;
    this.families = node.families;
    this.familiesOutside = node.familiesOutside;
    this.hasExternalIps = node.hasExternalIps;
    this.addresses = askedAddresses(node);
    this.#own = new Set(this.addresses);
    this.#pods = cidrs(node.podSubnets);
    this.#ownPods = cidrs(node.ownPodSubnets);
    this.#neededPorts = node.neededPorts;
    this.#etcdEndpoints = node.etcdEndpoints;
    this.#rules = new AddressRules(node.network);
    this.otherNodes = new OtherNodes(node.otherNodes);
  }

  /** The network of the pods of this node. */
  ownPods(family: IpFamily): Cidr | undefined {
    return this.#ownPods.find(({ address }) => ipFamily(address) === family);
  }

  /**
   * The location of an endpoint.
   * @param nodeName as in its record; empty: unknown, as for endpoints that users or the API server create
   */
  locate(address: IpBytes, text: string, nodeName: string): EndpointLocation {
    const isPod = isIn(this.#pods, address);
    const other = isPod ? undefined : this.otherNodes.nameOf(text);
    const isOwn = this.#own.has(text) || isIn(this.#ownPods, address);
    const isLocal = nodeName === '' ? isOwn : nodeName === this.name;
    const isNode = isLocal || other !== undefined;
    return {
      nodeName: nodeName || (isLocal ? this.name : (other ?? '')),
      isLocal,
      place: isPod ? 'pod' : isNode ? 'node' : 'outside',
    };
  }

  /**
   * Why an address has no such use, as text after the address; undefined if it may have. VPP makes an external address of a
   * service its own, with all ports.
   * @param address undefined: the text is none
   */
  whyNot(
    use: 'endpoint' | 'cluster IP' | 'external address',
    address: IpBytes | undefined,
  ): string | undefined {
    return this.#rules.whyNot(use, address)?.phrase;
  }

  /** The other node that serves the external address of a service, because it has it; undefined: none. */
  serverOf(address: string): string | undefined {
    return this.#own.has(address) ? undefined : this.otherNodes.ownerOf(address);
  }

  /**
   * Whether VPP would take the address from the agent, which then does not learn that the service was deleted. Those of the
   * host stay with it.
   */
  isOfEtcd(address: string): boolean {
    return !this.#own.has(address) && this.#etcdEndpoints.some((one) => one.address === address);
  }

  /**
   * The user of a port that the node needs itself; undefined: none.
   * @param externalAddress undefined: it is asked at another kind of address, as etcd itself may be, by a node port
   */
  userOf(
    port: number,
    protocol: ServiceProtocol,
    externalAddress: string | undefined,
  ): string | undefined {
    const isOfEtcd = (one: EtcdEndpoint) => one.address === externalAddress && one.port === port;
    if (protocol === 'TCP' && this.#etcdEndpoints.some(isOfEtcd)) return 'etcd';
    return this.#neededPorts.find((one) => one.port === port && one.protocol === protocol)?.user;
  }
}

export interface EndpointLocation {
  /** Empty: unknown. */
  readonly nodeName: string;
  /** Whether it is a pod of this node, or this node itself. */
  readonly isLocal: boolean;
  readonly place: BackendPlace;
}

function cidrs(texts: readonly string[]): Cidr[] {
  return texts.flatMap((text) => parseCidr(text) ?? []);
}

function isIn(networks: readonly Cidr[], address: IpBytes): boolean {
  return networks.some((one) => contains(one, address));
}

/** For sentences: `IPv4`, `IPv4 or IPv6`. */
export function familiesText(families: readonly IpFamily[]): string {
  return families.map((family) => `IPv${family}`).join(' or ');
}

export function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535;
}
