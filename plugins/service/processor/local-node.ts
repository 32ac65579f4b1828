/** This node as the processor sees it: which addresses are its own, and which are those of pods. */
import {
  type Cidr,
  contains,
  formatIp,
  type IpBytes,
  type IpFamily,
  ipFamily,
  isLinkLocalIpv6,
  network,
  parseCidr,
  parseIp,
} from '#models/ip.ts';
import type { BackendPlace, ServiceProtocol } from '../rendered-service.ts';
import { type OtherNode, OtherNodes } from './other-nodes.ts';

/** Input of the processor besides the Kubernetes objects. */
export interface LocalNode {
  readonly name: string;
  /** Addresses and backends of the other family are not rendered. */
  readonly family: IpFamily;
  /** At which node ports answer, without prefix length: the addresses of VPP and of the host. */
  readonly addresses: readonly string[];
  /** CIDR of the pods of all nodes. */
  readonly podSubnet: string;
  /** CIDR of the pods of this node. */
  readonly ownPodSubnet: string;
  /**
   * Subnets in which external addresses of services would cut off the node; `podSubnet` is always one
   * of them.
   */
  readonly internalSubnets: readonly InternalSubnet[];
  /** Ports that the node needs on every address. */
  readonly neededPorts: readonly NeededPort[];
  /** Default gateway, without prefix length; empty: unknown. */
  readonly gateway: string;
  readonly otherNodes: Iterable<OtherNode>;
}

export interface InternalSubnet {
  /** For operators, for example `the VXLAN subnet`. */
  readonly name: string;
  readonly cidr: string;
}

export interface NeededPort {
  readonly protocol: ServiceProtocol;
  readonly port: number;
  /** For operators, for example `VXLAN`. */
  readonly user: string;
}

/** The facts of `LocalNode`, parsed once. */
export class NodeView {
  readonly name: string;
  readonly family: IpFamily;
  /** Those of the family at which clients can ask, each once. */
  readonly addresses: readonly string[];
  readonly #pods: Cidr | undefined;
  readonly #ownPods: Cidr | undefined;
  readonly #internal: readonly { readonly name: string; readonly cidr: Cidr }[];
  readonly #neededPorts: readonly NeededPort[];
  readonly #gateway: string;
  readonly #own: ReadonlySet<string>;
  /** Changes with the other nodes. */
  readonly otherNodes: OtherNodes;

  constructor(node: LocalNode) {
    this.name = node.name;
    this.family = node.family;
    const addresses = node.addresses.flatMap((text) => {
      const bytes = parseIp(text);
      if (bytes === undefined || ipFamily(bytes) !== node.family) return [];
      // the host has addresses at which no client outside of it can ask
      return whyUnusable(bytes) === undefined ? [formatIp(bytes)] : [];
    });
    this.#own = new Set(addresses);
    this.addresses = [...this.#own];
    this.#pods = parseCidr(node.podSubnet);
    this.#ownPods = parseCidr(node.ownPodSubnet);
    const subnets = [{ name: 'the pod subnet', cidr: node.podSubnet }, ...node.internalSubnets];
    this.#internal = subnets.flatMap(({ name, cidr: text }) => {
      const cidr = parseCidr(text);
      return cidr === undefined ? [] : [{ name, cidr: network(cidr) }];
    });
    this.#neededPorts = node.neededPorts;
    this.#gateway = node.gateway;
    this.otherNodes = new OtherNodes(node.otherNodes);
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
   * Why no service can have the external address; undefined if one can. VPP makes such an address its
   * own, with all ports.
   */
  whyInternal(address: IpBytes): string | undefined {
    if (formatIp(address) === this.#gateway) return 'is the default gateway';
    const subnet = this.#internal.find(({ cidr }) => contains(cidr, address))?.name;
    return subnet && `is in ${subnet}`;
  }

  /** The user of a port that the node needs itself; undefined: none. */
  userOf(port: number, protocol: ServiceProtocol): string | undefined {
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

function isIn(cidr: Cidr | undefined, address: IpBytes): boolean {
  return cidr !== undefined && contains(cidr, address);
}

/** Why no service and no endpoint can have the address; undefined if one can. */
export function whyUnusable(address: IpBytes): string | undefined {
  const [first = 0, second = 0] = address;
  const isV4 = ipFamily(address) === 4;
  if (first === 0 && address.every((byte) => byte === 0)) return 'is the unspecified address';
  if (
    isV4 ? first === 127 : first === 0 && address.every((byte, at) => byte === (at === 15 ? 1 : 0))
  )
    return 'is a loopback address';
  if (isV4 ? first === 169 && second === 254 : isLinkLocalIpv6(address))
    return 'is a link-local address';
  if (isV4 ? first >= 224 && first < 240 : first === 0xff) return 'is a multicast address';
  if (isV4 && first >= 240) return 'is a reserved address';
  return undefined;
}

export function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535;
}
